// Elements of the page. Every text is set as text: nothing that the service tells is read as HTML.

const SVG = "http://www.w3.org/2000/svg";
const root = document.documentElement;
const byId = (id) => document.getElementById(id);

function make(name, text, attributes = {}) {
  return dress(document.createElement(name), { ...attributes }, text);
}

function shape(name, attributes) {
  return dress(document.createElementNS(SVG, name), attributes, "");
}

function dress(element, attributes, text) {
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// Changes only what differs, so that selections and screen readers are not disturbed.
function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Names and values of a list of descriptions, each pair in its place.
function fill(list, facts) {
  Object.entries(facts).forEach(([name, value], place) => {
    if (!list.children[place]) list.append(make("div", ""));
    const pair = list.children[place];
    if (!pair.children.length) pair.append(make("dt", name), make("dd", ""));
    set(pair.lastChild, value);
  });
}
