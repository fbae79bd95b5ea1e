// The mechanisms of a profile: one card each, and what the intervals leave open of the dependencies.

// What each mechanism promises, and the colour that its violations have in charts.
const PROMISES = {
  "consistent-read": { promises: "a read shows what was there at its snapshot", unit: "reads", colour: "rw" },
  "mutual-exclusion": { promises: "conflicting locks are never held at once", unit: "locks", colour: "ww" },
  "first-updater-wins": { promises: "of two that overlap, one changes a row", unit: "writes", colour: "clock" },
  "serialization-certifier": { promises: "what could not be serial is refused", unit: "transactions", colour: "cm" },
  agreement: { promises: "what one shows no other contradicts", unit: "orders of versions", colour: "wr" },
};
const KIND = { wr: "reads of a write", ww: "overwritten versions", rw: "reads that were overwritten" };

const mechanismCards = new Map();

// What the page counts by: a level, or a mechanism with the sizes of its profile.
const judged = ({ levels, mechanisms }) => (mechanisms === null ? levels : mechanisms.verdicts);
const sized = ({ levels, mechanisms }) => mechanisms ?? levels[0];
const nameOf = (one) => one.level ?? one.mechanism;
const brokenBy = (event) => event.level ?? event.mechanism;

// What stays open because intervals overlap proves nothing in either direction.
function mechanismOutcome(one, transactions) {
  if (finals(one)) return "violated";
  if (!transactions || !one.checked) return "waiting";
  return one.outcome;
}

function mechanismWhy(one) {
  const { unit } = PROMISES[one.mechanism], parts = [];
  if (finals(one)) parts.push(`${count(finals(one), "violation")}`);
  if (one.undecided) parts.push(`${whole.format(one.undecided)} of ${whole.format(one.checked)} ${unit} stay open: their intervals overlap`);
  else if (one.reason) parts.push(one.reason);
  if (!parts.length) parts.push(one.checked ? `all ${whole.format(one.checked)} ${unit} are as promised` : "nothing to check yet");
  return `${parts.join("; ")}.`;
}

class MechanismCard {
  constructor(one) {
    const id = `mechanism-${one.mechanism}`, { promises, unit, colour } = PROMISES[one.mechanism];
    this.element = make("article", "", { class: "card", "aria-labelledby": id });
    this.pill = make("span", "", { class: "pill" });
    this.why = make("p", "", { class: "why" });
    this.final = new Bars("violations, per 10 s", [colour]);
    this.checked = new Bars(`${unit} checked, per 10 s`, ["session"]);
    this.facts = make("dl", "", { class: "facts" });
    const head = make("header", ""), plots = make("div", "", { class: "plots" });
    head.append(make("h3", one.mechanism, { id }), this.pill);
    plots.append(this.final.element, this.checked.element);
    this.element.append(head, make("p", `${promises}.`, { class: "quiet" }), this.why, plots, this.facts);
    byId("level-cards").append(this.element);
  }

  show(one, place, at, transactions) {
    const state = mechanismOutcome(one, transactions);
    this.pill.dataset.state = state;
    set(this.pill, SAID_OF_MECHANISMS[state]);
    set(this.why, mechanismWhy(one));
    this.final.draw(past, at, (entry) => [entry.levels[place]?.grown.violations ?? 0]);
    this.checked.draw(past, at, (entry) => [entry.levels[place]?.grown.checked ?? 0]);
    fill(this.facts, {
      checked: whole.format(one.checked),
      "left open": `${whole.format(one.undecided)}${share(one.undecided, one.checked)}`,
      violations: whole.format(finals(one)),
    });
  }
}

const SAID_OF_MECHANISMS = { violated: "violated", unknown: "nothing wrong, part is open", holds: "at work so far", waiting: "nothing to check yet" };

const share = (part, all) => (all ? `, ${short.format((100 * part) / all)} %` : "");

function showMechanisms(told, at) {
  const { verdicts, transactions } = told;
  verdicts.forEach((one, place) => {
    if (!mechanismCards.has(one.mechanism)) mechanismCards.set(one.mechanism, new MechanismCard(one));
    mechanismCards.get(one.mechanism).show(one, place, at, transactions);
  });
  byId("dependencies").hidden = false;
  fill(byId("profile-facts"), {
    profile: told.profile,
    "clocks differ by": told.clock_error ? seconds(told.clock_error / 1e9) : "nothing",
    "not judged yet": `${count(told.pending, "transaction")}${told.behind === null ? "" : `, ${seconds(told.behind)} behind`}`,
    "waits for session": told.pending ? told.holding_back.map(scalar).join(", ") || "–" : "–",
    "came too late": count(told.late, "transaction"),
    "in memory": count(told.live, "transaction"),
  });
  showDependencies(told.dependencies);
}

function showDependencies(dependencies) {
  const body = byId("dependency-rows");
  dependencies.forEach((one, place) => {
    if (!body.children[place]) {
      const row = make("tr", "");
      row.append(make("th", one.kind, { scope: "row" }), make("td", KIND[one.kind]));
      for (let cell = 0; cell < 4; cell++) row.append(make("td", "", { class: "number" }));
      body.append(row);
    }
    const said = [one.total, one.overlapping, one.uncertain].map((number) => whole.format(number));
    [...said, `${short.format(100 * one.beta)} %`].forEach((text, cell) => set(body.children[place].children[cell + 2], text));
  });
}

// The answer in one line a mechanism.
function mechanismsAnswer({ profile, verdicts, transactions }) {
  const said = verdicts.map((one) => {
    const number = finals(one);
    return `${one.mechanism}: ${SAID_OF_MECHANISMS[mechanismOutcome(one, transactions)]}${number ? `, ${count(number, "violation")}` : ""}`;
  });
  return [`${profile}`, ...said].join("\n");
}
