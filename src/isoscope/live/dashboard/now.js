// What the service says of itself once a second: gauges, sizes, and one card a level or mechanism.

const past = new Past();
const gauges = new Map(), cards = new Map();
let status = null, counted = null;

const now = () => performance.now() / 1000;

function take(told) {
  past.add({ at: now(), ...measured(told) });
  status = told;
}

// Another history than before: the service was started again, without its journal.
function isAnew(told) {
  if (status === null || told.start === status.start) return false;
  return told.violations < last || sized(told).transactions < sized(status).transactions;
}

function forget() {
  past.clear();
  counted = null;
  forgetViolations();
}

// Only what charts need: six hundred whole answers would be much.
function measured(told) {
  const { intake, memory } = told, before = counted;
  counted = judged(told).map((one) => (one.mechanism ? { violations: finals(one), checked: one.checked } : { ...byAxiom(one), flips: flipped(one.flips.reads) }));
  const since = (name, place) => (before ? Math.max(0, counted[place][name] - (before[place]?.[name] ?? 0)) : 0);
  return {
    rate: intake.rate, lag: intake.lag, memory: memory.used,
    levels: judged(told).map(({ provisional = 0 }, place) => ({
      provisional, grown: Object.fromEntries(Object.keys(counted[place]).map((name) => [name, since(name, place)])),
    })),
  };
}

function show() {
  const { intake, memory, levels, mechanisms } = status, at = now();
  const state = (one) => (mechanisms ? mechanismOutcome(one, mechanisms.transactions) : outcome(one));
  const worst = ["violated", "unknown", "holds"].find((one) => judged(status).some((part) => state(part) === one)) ?? "waiting";
  set(byId("answer"), mechanisms ? mechanismsAnswer(mechanisms) : answer(levels));
  byId("answer").dataset.outcome = worst;
  document.title = `${SIGN[worst]}${(mechanisms ? SAID_OF_MECHANISMS : SAID)[worst]} · Isoscope`;
  set(byId("told"), whole.format(judged(status).reduce((sum, part) => sum + finals(part), 0)));
  gauge("throughput", rate, roundUp).show(intake.rate, "transactions a second", at);
  gauge("lag", seconds, roundUp).show(intake.lag, "from a batch's arrival to its answer", at);
  const limit = memory.limit === null ? "" : `, of ${bytes(memory.limit)}`;
  gauge("memory", bytes, roundBytes).show(memory.used, `held by the checkers${limit}`, at);
  sizes();
  levels.forEach((level, place) => card(level).show(level, place, at));
  if (mechanisms) showMechanisms(mechanisms, at);
  set(byId("levels-head"), mechanisms ? "Mechanisms" : "Levels");
  set(byId("levels-link"), mechanisms ? "Mechanisms" : "Levels");
}

function sizes() {
  const first = sized(status), { intake } = status;
  const numbers = {
    transactions: first.transactions, operations: first.operations, sessions: first.sessions, keys: first.keys,
    collectors: intake.collectors, "refused batches": intake.refused_batches,
  };
  const said = Object.entries(numbers).map(([name, number]) => [name, whole.format(number)]);
  fill(byId("sizes"), { ...Object.fromEntries(said), ...injected(status.faults ?? []), "running for": duration(status.uptime) });
}

// How many faults a run has injected, and the one that goes on.
function injected(faults) {
  if (!faults.length) return {};
  const { kind, node, stop } = faults.at(-1);
  return { faults: whole.format(faults.length), [stop === null ? "fault now" : "latest fault"]: `${kind} of ${node}` };
}

class Gauge {
  constructor(name, said, round) {
    this.name = name;
    this.said = said;
    this.chart = new Line(name, "wr", said, round);
    this.value = make("dd", "", { class: "value" });
    this.meaning = make("dd", "", { class: "quiet" });
    const box = make("div", ""), plot = make("dd", "");
    plot.append(this.chart.element);
    box.append(make("dt", name), this.value, this.meaning, plot);
    byId("gauges").append(box);
  }

  show(value, meaning, at) {
    set(this.value, this.said(value));
    set(this.meaning, meaning);
    this.chart.draw(past, at, (entry) => entry[{ throughput: "rate" }[this.name] ?? this.name]);
  }
}

function gauge(name, said, round) {
  if (!gauges.has(name)) gauges.set(name, new Gauge(name, said, round));
  return gauges.get(name);
}

class Card {
  constructor(level) {
    const id = `level-${level.level}`;
    this.element = make("article", "", { class: "card", "aria-labelledby": id });
    this.pill = make("span", "", { class: "pill" });
    this.why = make("p", "", { class: "why" });
    this.axioms = axiomsOf(level);
    this.numbers = this.axioms.map(() => make("td", "", { class: "number" }));
    this.final = new Bars("final violations, per 10 s", this.axioms.map((axiom) => MEANING[axiom].colour));
    this.provisional = new Line("provisional violations", "rw", (number) => whole.format(number), roundUp);
    this.flips = new Bars("flip-flops, per 10 s", ["session"]);
    this.facts = make("dl", "", { class: "facts" });
    const head = make("header", ""), plots = make("div", "", { class: "plots" });
    head.append(make("h3", level.level, { id }), this.pill);
    plots.append(this.final.element, this.provisional.element, this.flips.element);
    this.element.append(head, this.why, plots, this.table(), this.facts);
    byId("level-cards").append(this.element);
  }

  // It is the legend of the bars as well.
  table() {
    const table = make("table", ""), body = table.createTBody(), head = make("tr", "");
    head.append(make("th", "axiom", { scope: "col" }), make("th", "what it asks for", { scope: "col" }));
    head.append(make("th", "final", { scope: "col", class: "number" }));
    table.createTHead().append(head);
    this.axioms.forEach((axiom, place) => {
      const row = make("tr", ""), name = make("th", "", { scope: "row" });
      const swatch = shape("svg", { class: "isoscope swatch", viewBox: "0 0 10 10", "aria-hidden": "true" });
      swatch.append(shape("rect", { class: MEANING[axiom].colour, width: 10, height: 10, rx: 2 }));
      name.append(swatch, axiom.toUpperCase());
      row.append(name, make("td", MEANING[axiom].asks), this.numbers[place]);
      body.append(row);
    });
    return table;
  }

  show(level, place, at) {
    const state = outcome(level), found = byAxiom(level);
    this.pill.dataset.state = state;
    set(this.pill, SAID[state]);
    set(this.why, why(level));
    this.numbers.forEach((cell, number) => {
      set(cell, whole.format(found[this.axioms[number]]));
      cell.classList.toggle("some", found[this.axioms[number]] > 0);
    });
    const grown = (entry, name) => entry.levels[place]?.grown[name] ?? 0;
    this.final.draw(past, at, (entry) => this.axioms.map((axiom) => grown(entry, axiom)));
    this.provisional.draw(past, at, (entry) => entry.levels[place]?.provisional ?? 0);
    this.flips.draw(past, at, (entry) => [grown(entry, "flips")]);
    fill(this.facts, {
      "provisional violations": whole.format(level.provisional),
      "flip-flops": flips(level.flips),
      "transactions in memory": `${whole.format(level.live)}, ${whole.format(level.pending)} of them not final`,
      "came too late": `${whole.format(level.unverifiable)}; final answers that others changed: ${whole.format(level.overturned)}`,
    });
  }
}

function card(level) {
  if (!cards.has(level.level)) cards.set(level.level, new Card(level));
  return cards.get(level.level);
}
