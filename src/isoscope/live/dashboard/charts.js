// Small charts of the last ten minutes, drawn by hand: one unit across is a second, all of it is a hundred high.

const WINDOW = 600;
const BUCKET = 10;

// What the page has seen: one entry a second, and an entry without values where the connection was lost.
class Past {
  entries = [];

  add(entry) {
    this.entries.push(entry);
    const oldest = entry.at - WINDOW - BUCKET;
    while (this.entries[0].at < oldest) this.entries.shift();
  }

  clear() {
    this.entries = [];
  }
}

class Chart {
  constructor(title, colours) {
    this.title = title;
    const view = { viewBox: `0 0 ${WINDOW} 100`, preserveAspectRatio: "none" };
    this.svg = shape("svg", { class: "isoscope chart", role: "img", "aria-label": title, ...view });
    this.paths = colours.map((colour) => shape("path", { class: colour }));
    for (const y of [0, 50, 100]) this.svg.append(shape("path", { class: "grid", d: `M0 ${y}H${WINDOW}` }));
    this.svg.append(...this.paths);
    this.most = make("span", "", { class: "most" });
    this.element = make("figure", "", { class: "plot" });
    const axis = make("div", "", { class: "ago", "aria-hidden": "true" });
    axis.append(make("span", "10 min ago"), make("span", "5 min"), make("span", "now"));
    const area = make("div", "", { class: "area" });
    area.append(this.svg, this.most);
    this.element.append(make("figcaption", title), area, axis);
  }

  name(text, most) {
    this.most.textContent = most;
    this.svg.setAttribute("aria-label", `${this.title}, last ten minutes: ${text}`);
  }
}

// A line of what `value(entry)` says, and what is below it.
class Line extends Chart {
  constructor(title, colour, said, round) {
    super(title, [`line ${colour}`, `below ${colour}`]);
    this.said = said;
    this.round = round;
  }

  draw(past, now, value) {
    const seen = past.entries.filter((entry) => entry.levels && entry.at >= now - WINDOW).map(value);
    const most = this.round(Math.max(0, ...seen));
    const lines = stretches(past.entries).map((entries) => entries.map((entry) => {
      const [x, y] = [WINDOW - (now - entry.at), 100 - 100 * value(entry) / (most || 1)];
      return `${x.toFixed(1)} ${y.toFixed(1)}`;
    }));
    const foot = (place) => `${place.split(" ")[0]} 100`;
    this.paths[0].setAttribute("d", lines.map((line) => `M${line.join("L")}`).join(""));
    this.paths[1].setAttribute("d", lines.map((line) => `M${[foot(line[0]), ...line, foot(line.at(-1))].join("L")}Z`).join(""));
    const said = seen.length ? `now ${this.said(seen.at(-1))}, at most ${this.said(Math.max(...seen))}` : "nothing yet";
    this.name(said, this.said(most));
  }
}

// Entries between which the connection was never lost.
function stretches(entries) {
  const found = [[]];
  for (const entry of entries) {
    if (entry.levels) found.at(-1).push(entry);
    else found.push([]);
  }
  return found.filter((stretch) => stretch.length);
}

// Stacked bars of what `grown(entry)` adds up to in every ten seconds.
class Bars extends Chart {
  draw(past, now, grown) {
    const latest = Math.floor(now / BUCKET), buckets = new Map();
    let total = 0;
    for (const entry of past.entries) {
      const place = latest - Math.floor(entry.at / BUCKET);
      if (!entry.levels || place >= WINDOW / BUCKET) continue;
      const sums = buckets.get(place) || this.paths.map(() => 0);
      grown(entry).forEach((number, part) => { sums[part] += number; total += number; });
      buckets.set(place, sums);
    }
    const heights = [...buckets.values()].map((sums) => sums.reduce((sum, number) => sum + number, 0));
    const most = roundUp(Math.max(0, ...heights));
    const shapes = this.paths.map(() => "");
    for (const [place, sums] of buckets) {
      let top = 100;
      sums.forEach((number, part) => {
        if (!number) return;
        // What is there is seen, however little it is.
        const height = Math.max(1.5, 100 * number / most);
        top -= height;
        shapes[part] += `M${WINDOW - (place + 1) * BUCKET + 1} ${top.toFixed(1)}h${BUCKET - 2}v${height.toFixed(1)}h${2 - BUCKET}Z`;
      });
    }
    this.paths.forEach((path, part) => path.setAttribute("d", shapes[part]));
    this.name(`${whole.format(total)}`, whole.format(most));
  }
}

// The next round number of bytes: 200 KiB, 5 MiB.
function roundBytes(number) {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log(Math.max(1, number)) / Math.log(1024)));
  return roundUp(number / unit) * unit;
}

// The next of 1, 2, 5, 10, 20, 50, ...
function roundUp(number) {
  if (number <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(number));
  return power * [1, 2, 5, 10].find((step) => step * power >= number * (1 - 1e-9));
}
