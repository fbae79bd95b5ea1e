// Every text with a contrast to its background below 4.5, as WCAG counts it.
() => {
  const channels = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = channels(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
      if (e instanceof SVGElement && e.parentElement) {
        const box = [...e.parentElement.children].find((one) => one.matches("rect.box, rect:not(.rim)"));
        const fill = box && channels(getComputedStyle(box).fill || "");
        if (fill && fill.length >= 3) return fill;
      }
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.checkVisibility({ checkOpacity: true }) || element.matches("title, desc, .skip")) continue;
    const style = getComputedStyle(element);
    const colour = channels(element instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName}.${element.getAttribute("class")} ${element.textContent}: ${ratio}`);
  }
  return found;
}
