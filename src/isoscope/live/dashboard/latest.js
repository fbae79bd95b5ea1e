// The latest violations, newest first, and one of them as a picture.

// As many as the service keeps pictures of.
const MOST = 100;
// Seconds between two changes of the picture that follows the newest, and between two announcements.
const GLANCE = 2;
const ANNOUNCED = 5;

const rows = new Map(), pictures = new Map();
let last = 0, arrived = [], chosen = null, unsaid = 0, saidAt = -ANNOUNCED, lookedAt = -GLANCE;

// Violations come as fast as they like; four times a second the newest are shown.
function hear(event) {
  if (event.id <= last) return;
  last = event.id;
  arrived.push(event);
  if (arrived.length > MOST) arrived.shift();
  // What was there before the page is no news.
  if (event.id > known && !event.retracted) unsaid += 1;
}

function showLatest() {
  list();
  follow();
  announce();
}

function forgetViolations() {
  for (const { element } of rows.values()) element.remove();
  rows.clear();
  pictures.clear();
  [last, known, arrived, chosen, unsaid] = [0, 0, [], null, 0];
  byId("reading").hidden = true;
  byId("none").hidden = false;
}

function list() {
  if (!arrived.length) return;
  const fresh = document.createDocumentFragment();
  for (const event of arrived) {
    if (event.retracted) retract(event);
    fresh.prepend(row(event));
  }
  arrived = [];
  byId("contents").prepend(fresh);
  prune();
  byId("none").hidden = true;
  byId("reading").hidden = false;
  set(byId("held"), `The last ${whole.format(rows.size)} of ${whole.format(last)}`);
}

function row(event) {
  const element = make("li", ""), words = make("span", "");
  const button = make("button", `${event.id}. ${event.name}`, { type: "button", "data-id": event.id });
  words.append(make("bdi", event.retracted ? `taken back: ${subject(event)}` : subject(event)));
  button.append(words, make("span", brokenBy(event), { class: "quiet" }));
  element.append(button);
  rows.set(event.id, { event, element, button });
  return element;
}

// A transaction that came late explains what was a violation without it.
function retract(late) {
  const same = ["level", "mechanism", "name", "transaction", "other", "key"];
  for (const { event, button } of rows.values()) {
    if (!event.retracted && same.every((field) => event[field] === late[field])) button.classList.add("retracted");
  }
}

// The selected violation stays, and so does the one that has the focus.
function prune() {
  for (const id of numbers()) {
    if (rows.size <= MOST) return;
    const { element } = rows.get(id);
    if (id === chosen || element.contains(document.activeElement)) continue;
    element.remove();
    rows.delete(id);
    pictures.delete(id);
  }
}

const numbers = () => [...rows.keys()].sort((one, other) => one - other);

function follow() {
  const newest = numbers().at(-1);
  if (!byId("follow").checked || newest === undefined || newest === chosen || now() - lookedAt < GLANCE) return;
  lookedAt = now();
  choose(newest);
}

function announce() {
  if (!unsaid || now() - saidAt < ANNOUNCED) return;
  const event = rows.get(numbers().findLast((id) => !rows.get(id).event.retracted))?.event;
  if (!event) return;
  set(byId("news"), `${count(unsaid, "new violation")}, the latest: ${event.name}, ${subject(event)}`);
  saidAt = now();
  unsaid = 0;
}

function step(by) {
  const order = numbers(), place = order.indexOf(chosen);
  if (order.length) pick(order[Math.min(Math.max(place - by, 0), order.length - 1)]);
}

// A selected violation stays selected when newer ones arrive.
function pick(id) {
  byId("follow").checked = false;
  choose(id);
  rows.get(id).button.focus({ preventScroll: true });
}

async function choose(id) {
  rows.get(chosen)?.button.removeAttribute("aria-current");
  chosen = id;
  const { event, button } = rows.get(id);
  button.setAttribute("aria-current", "true");
  reveal(button);
  const drawn = await picture(event);
  if (chosen === id) read(event, drawn);
}

// Scrolls the list, never the page.
function reveal(button) {
  const frame = byId("contents").parentElement;
  const box = button.getBoundingClientRect(), room = frame.getBoundingClientRect();
  if (box.top < room.top) frame.scrollTop -= room.top - box.top;
  if (box.bottom > room.bottom) frame.scrollTop += box.bottom - room.bottom;
}

function read(event, { words, image }) {
  byId("shown-head").replaceChildren(`${event.name} ${event.id}`, make("small", ` breaks ${brokenBy(event)}`));
  set(byId("shown-words"), words);
  byId("picture").replaceChildren(...(image ? [image] : []));
  byId("picture").classList.toggle("none", !image);
  fill(byId("shown-facts"), {
    ...(event.mechanism ? { promise: PROMISES[event.mechanism].promises, case: event.case } : { axiom: [event.axiom.toUpperCase(), MEANING[event.axiom]?.asks].filter(Boolean).join(": ") }),
    transaction: scalar(event.transaction),
    against: event.other === null ? "–" : scalar(event.other),
    key: event.key === null ? "–" : scalar(event.key),
  });
}

async function picture(event) {
  if (event.retracted) return { words: "Taken back: a transaction that came late explains it.", image: null };
  if (!pictures.has(event.id)) {
    try {
      pictures.set(event.id, await drawing(await (await ask(`/v1/violations/${event.id}.svg`)).text()));
    } catch (error) {
      return { words: error instanceof Asked ? `${error.message}.` : "The picture did not come.", image: null };
    }
  }
  return pictures.get(event.id);
}

// The picture as an image, in which nothing runs, and its words.
async function drawing(text) {
  // The page's policy would complain of the picture's own style, which the words do not need.
  const plain = text.replace(/<style>.*?<\/style>/s, "");
  const words = new DOMParser().parseFromString(plain, "image/svg+xml").querySelector("desc")?.textContent ?? "";
  const image = make("img", "", { alt: words });
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode().catch(() => {});
  URL.revokeObjectURL(image.src);
  return { words, image };
}
