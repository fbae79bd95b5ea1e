// The page works without this file for the summary and the first counterexample of each name.
// All texts of a history are set as text; the HTML of counterexamples was escaped when the file was written.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  const SECTIONS = ["summary", "counterexamples", "transactions"];
  const AT_ONCE = 300;
  const unpacked = new Map();
  const articles = new Map();
  let examples = [], transactions = [], visible = [], current = null, sorted = { column: 0, up: true };

  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  function make(name, text, attributes = {}) {
    const element = document.createElement(name);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  // Counterexamples are unpacked when they are shown.

  async function articleOf(example) {
    if (!articles.has(example.id)) {
      if (!unpacked.has(example.part)) {
        unpacked.set(example.part, unpack(document.querySelectorAll("script.part")[example.part]));
      }
      const template = document.createElement("template");
      template.innerHTML = (await unpacked.get(example.part))[example.id];
      articles.set(example.id, template.content.firstElementChild);
    }
    const article = articles.get(example.id);
    offerCopies(article);
    return article;
  }

  async function show(example, focus) {
    current = example;
    const article = await articleOf(example);
    if (current !== example) return;
    article.hidden = false;
    byId("articles").replaceChildren(article);
    for (const link of byId("contents").querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
    const link = byId("contents").querySelector(`a[href="#${example.id}"]`);
    if (link) {
      link.setAttribute("aria-current", "true");
      link.scrollIntoView({ block: "nearest" });
    }
    if (link && document.activeElement.closest("#contents")) link.focus();
    else if (focus) article.focus({ preventScroll: true });
  }

  function offerCopies(article) {
    if (article.dataset.copies || !navigator.clipboard) return;
    article.dataset.copies = "yes";
    for (const place of article.querySelectorAll(".place")) {
      place.after(make("button", "copy", { class: "copy", type: "button", "aria-label": `copy ${fullName(place)}` }));
    }
  }

  // `line 3` of the history as other programs write it: `history.txt:3`.
  function fullName(place) {
    const [, inside, unit, number] = /^(?:(.*), )?(line|byte) (\d+)$/.exec(place.textContent) || [];
    if (!unit) return place.textContent;
    const path = document.querySelector(".bar .path").textContent + (inside ? `/${inside}` : "");
    return unit === "byte" ? `${path}: byte ${number}` : `${path}:${number}`;
  }

  function list() {
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    visible = examples.filter((example) => words.every((word) => example.text.includes(word)));
    const rows = document.createDocumentFragment();
    let group = "";
    for (const example of visible) {
      if (example.name !== group) rows.append(make("li", (group = example.name), { class: "group" }));
      const link = make("a", `${example.number}. ${example.who}`, { href: `#${example.id}` });
      if (example.keys) link.append(make("span", `on ${example.keys}`));
      const row = document.createElement("li");
      row.append(link);
      rows.append(row);
    }
    byId("contents").replaceChildren(rows);
    const all = visible.length === examples.length;
    byId("filtered").textContent = all ? `${examples.length} in this file` : `${visible.length} of ${examples.length}`;
    if (current) byId("contents").querySelector(`a[href="#${current.id}"]`)?.setAttribute("aria-current", "true");
  }

  function step(by) {
    const place = visible.indexOf(current);
    const next = visible[place < 0 ? 0 : Math.min(Math.max(place + by, 0), visible.length - 1)];
    if (next) location.hash = next.id;
  }

  // What belongs together lights up together: a step, its arrow, its operations, its transactions.

  function light(target) {
    const article = target.closest(".counterexample");
    const chosen = target.closest("[data-step], [data-operations], [data-operation]");
    if (!article || !chosen) return;
    const among = (all, one) => ` ${all} `.includes(` ${one} `);
    const { operation } = chosen.dataset;
    const steps = new Set(), operations = [], who = [];
    for (const one of article.querySelectorAll("[data-operations]")) {
      const { step: name, operations: own } = one.dataset;
      if (operation ? among(own, operation) : one === chosen || (name && name === chosen.dataset.step)) {
        if (name) steps.add(name);
        operations.push(own);
        if (one.dataset.from) who.push(one.dataset.from, one.dataset.to);
      }
    }
    const all = operation ? operation : operations.join(" ");
    for (const one of article.querySelectorAll("[data-step]")) one.classList.toggle("lit", steps.has(one.dataset.step));
    for (const one of article.querySelectorAll("[data-operation]")) {
      one.classList.toggle("lit", among(all, one.dataset.operation));
    }
    for (const one of article.querySelectorAll(".box")) one.classList.toggle("lit", who.includes(one.dataset.transaction));
    if (!chosen.dataset.step) chosen.classList.add("lit");
    for (const svg of article.querySelectorAll("svg.isoscope")) svg.classList.add("dimmed");
  }

  function dark() {
    for (const one of document.querySelectorAll(".lit, .dimmed")) one.classList.remove("lit", "dimmed");
  }

  function lightOn(start, end) {
    byId("articles").addEventListener(start, (event) => { dark(); light(event.target); });
    byId("articles").addEventListener(end, dark);
  }

  // Transactions.

  function table(most = AT_ONCE) {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = transactions.filter((one) => words.every((word) => one.text.includes(word)));
    const { column, up } = sorted;
    const order = new Intl.Collator("en", { numeric: true });
    found.sort((a, b) => order.compare(a.row[column], b.row[column]) * (up ? 1 : -1));
    const rows = document.createDocumentFragment();
    for (const { row } of found.slice(0, most)) rows.append(tableRow(row));
    byId("table").tBodies[0].replaceChildren(rows);
    byId("searched").textContent = `${found.length} of ${transactions.length} transactions`;
    byId("more").hidden = found.length <= most;
    for (const head of byId("table").tHead.rows[0].cells) {
      const own = head.querySelector("button")?.dataset.column;
      if (own === String(column)) head.setAttribute("aria-sort", up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  }

  function tableRow([name, session, position, status, operations, place, numbers]) {
    const row = document.createElement("tr");
    const who = make("th", "", { scope: "row" });
    who.append(make("bdi", name));
    const input = make("td", "");
    input.innerHTML = place;
    const jumps = make("td", "", { class: "jumps" });
    for (const number of numbers.slice(0, 12)) {
      jumps.append(make("a", examples[number].id, { href: `#${examples[number].id}` }), " ");
    }
    if (numbers.length > 12) jumps.append(`and ${numbers.length - 12} more`);
    // On a phone each row is a card, and the head of a column stands before its cell.
    const cell = (head, text, more = {}) => make("td", text, { "data-head": head, ...more });
    const right = { class: "number" };
    input.dataset.head = "input";
    jumps.dataset.head = "counterexamples";
    row.append(who, cell("session", session), cell("place in session", position, right), cell("status", status));
    row.append(cell("operations", operations, right));
    row.append(input, jumps);
    return row;
  }

  // Views: the fragment says which, so that links and the back button work.

  function route() {
    const name = decodeURIComponent(location.hash.slice(1));
    const example = examples.find((one) => one.id === name);
    const view = example ? "counterexamples" : SECTIONS.includes(name) ? name : "summary";
    for (const one of SECTIONS) byId(one).hidden = one !== view;
    for (const link of document.querySelectorAll(".bar nav a")) {
      if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (view === "counterexamples") {
      const chosen = example || current || examples[0];
      if (chosen) show(chosen, Boolean(example)).then(() => scrollTo(0, 0));
    } else {
      if (view === "transactions") table();
      scrollTo(0, 0);
    }
  }

  function search() {
    const view = SECTIONS.find((one) => !byId(one).hidden);
    if (view === "summary") location.hash = "counterexamples";
    setTimeout(() => byId(view === "transactions" ? "search" : "filter").focus());
  }

  function leave(field) {
    field.value = "";
    field.dispatchEvent(new Event("input"));
    field.blur();
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (event.target.matches("input")) {
      if (event.key === "Escape") leave(event.target);
      return;
    }
    // Elsewhere the arrow keys scroll, which people without a mouse need.
    const inList = event.target.closest("#contents");
    const actions = {
      j: () => step(1), k: () => step(-1), "/": search, "?": () => byId("help").showModal(), Escape: dark,
      s: () => (location.hash = "summary"), c: () => (location.hash = "counterexamples"),
      t: () => (location.hash = "transactions"),
      ...(inList ? { ArrowDown: () => step(1), ArrowUp: () => step(-1) } : {}),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }

  function theme() {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    nameTheme(next);
  }

  function nameTheme(now) {
    byId("theme").textContent = now === "dark" ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", `switch to the ${now === "dark" ? "light" : "dark"} theme`);
  }

  function sort(event) {
    const column = event.target.dataset?.column;
    if (column === undefined) return;
    sorted = { column: Number(column), up: Number(column) === sorted.column ? !sorted.up : true };
    table();
  }

  async function copy(event) {
    if (!event.target.matches(".copy")) return;
    await navigator.clipboard.writeText(fullName(event.target.previousElementSibling));
    event.target.textContent = "copied";
    setTimeout(() => (event.target.textContent = "copy"), 1200);
  }

  // On paper nothing can be opened.
  function openAll() {
    for (const one of document.querySelectorAll("details:not([open])")) {
      one.open = true;
      one.dataset.closed = "yes";
    }
  }

  function closeAgain() {
    for (const one of document.querySelectorAll("details[data-closed]")) {
      one.open = false;
      delete one.dataset.closed;
    }
  }

  async function start() {
    const index = await unpack(byId("index"));
    const numbers = new Map();
    examples = index.examples.map(([id, name, who, keys, part]) => {
      numbers.set(name, (numbers.get(name) || 0) + 1);
      return { id, name, who, keys, part, number: numbers.get(name), text: `${id} ${who} ${keys}`.toLowerCase() };
    });
    transactions = index.transactions.map((row) => ({ row, text: row.slice(0, 4).join(" ").toLowerCase() }));
    for (const article of document.querySelectorAll(".counterexample")) articles.set(article.id, article);
    root.classList.add("js");
    list();
    nameTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    byId("filter").addEventListener("input", list);
    byId("search").addEventListener("input", () => table());
    byId("more").addEventListener("click", () => table(Infinity));
    byId("table").tHead.addEventListener("click", sort);
    byId("theme").addEventListener("click", theme);
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    document.addEventListener("keydown", key);
    document.addEventListener("click", copy);
    lightOn("pointerover", "pointerleave");
    lightOn("focusin", "focusout");
    addEventListener("hashchange", route);
    addEventListener("beforeprint", openAll);
    addEventListener("afterprint", closeAgain);
    route();
  }

  start();
})();
