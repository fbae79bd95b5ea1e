// How numbers, names and verdicts are said.

const AXIOMS = JSON.parse(document.getElementById("axioms").textContent);
// What each axiom asks for, and the colour that its violations have in charts, by the names of the pictures' colours.
const MEANING = {
  ext: { asks: "reads show the newest version of others", colour: "rw" },
  int: { asks: "reads agree with own writes and earlier reads", colour: "wr" },
  noconflict: { asks: "no two that overlap write the same key", colour: "ww" },
  session: { asks: "a session's transactions follow each other", colour: "clock" },
  "start-commit": { asks: "no transaction commits before it starts", colour: "cm" },
};
const ASKED_BY = { "clock-serializable": ["ext", "int"] };
const LONGEST = 60;

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const count = (number, one, many = `${one}s`) => `${whole.format(number)} ${number === 1 ? one : many}`;

function rate(perSecond) {
  return `${perSecond < 100 ? short.format(perSecond) : whole.format(perSecond)}/s`;
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  for (; number >= 1000 && place < units.length - 1; place++) number /= 1024;
  return `${short.format(number)} ${units[place]}`;
}

function seconds(number) {
  if (number < 0.001) return `${short.format(number * 1e6)} µs`;
  return number < 1 ? `${short.format(number * 1e3)} ms` : `${short.format(number)} s`;
}

function duration(number) {
  const parts = [[Math.floor(number / 86400), "d"], [Math.floor(number / 3600) % 24, "h"], [Math.floor(number / 60) % 60, "min"], [Math.floor(number) % 60, "s"]];
  const first = parts.findIndex(([size]) => size > 0);
  return first < 0 ? "0 s" : parts.slice(first, first + 2).map(([size, unit]) => `${size} ${unit}`).join(" ");
}

// An id or key of the database: short, and with nothing in it that could move the text around it.
function scalar(value) {
  const text = Array.isArray(value) ? `[${value.map(scalar).join(" ")}]` : String(value);
  const inert = text.slice(0, 4 * LONGEST).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (letter) => `\\u${letter.codePointAt(0).toString(16).padStart(4, "0")}`);
  const letters = [...inert];
  return letters.length <= LONGEST ? inert : `${letters.slice(0, LONGEST - 1).join("")}…`;
}

function axiomsOf(level) {
  return ASKED_BY[level.level] || Object.keys(MEANING);
}

// Final violations of a level by axiom.
function byAxiom(level) {
  const found = Object.fromEntries(axiomsOf(level).map((axiom) => [axiom, 0]));
  for (const [name, number] of Object.entries(level.counts)) {
    const axiom = AXIOMS[name] || name;
    found[axiom] = (found[axiom] || 0) + number;
  }
  return found;
}

const finals = (level) => Object.values(level.counts).reduce((sum, number) => sum + number, 0);

function outcome(level) {
  if (finals(level)) return "violated";
  if (level.unverifiable || level.unverifiable_reads) return "unknown";
  return level.transactions ? "holds" : "waiting";
}

const SIGN = { violated: "✗ ", unknown: "? ", holds: "✓ ", waiting: "" };
const SAID = { violated: "violated", unknown: "unknown", holds: "holds so far", waiting: "no transaction yet" };

function why(level) {
  const parts = [];
  if (finals(level)) parts.push(`${count(finals(level), "violation")} ${finals(level) === 1 ? "is" : "are"} final`);
  if (level.unverifiable) parts.push(`${count(level.unverifiable, "transaction")} came after what they must be held against was dropped`);
  if (level.unverifiable_reads) parts.push(`${count(level.unverifiable_reads, "read")} of lists of which a late append was missed`);
  if (level.provisional) parts.push(`${count(level.provisional, "read is", "reads are")} wrong so far and may still be rectified`);
  if (!parts.length) parts.push(level.transactions ? "nothing contradicts it" : "nothing was taken yet");
  return `${parts.join("; ")}.`;
}

// The answer, one line a level.
function answer(levels) {
  const said = levels.map((level) => {
    const number = finals(level);
    return `${level.level}: ${SAID[outcome(level)]}${number ? `, ${count(number, "violation")}` : ""}`;
  });
  return said.join("\n");
}

function subject(event) {
  const parts = [`transaction ${scalar(event.transaction)}`];
  if (event.other !== null) parts.push(`against ${scalar(event.other)}`);
  if (event.key !== null) parts.push(`on ${scalar(event.key)}`);
  return parts.join(" ");
}

// How often provisional answers changed, and how long wrong ones took to become right.
const flipped = (histogram) => histogram.reduce((sum, number, place) => sum + number * (place + 1), 0);

function flips({ reads, rectified }) {
  const changed = reads.reduce((sum, number) => sum + number, 0);
  if (!changed) return "none";
  const typical = median(rectified);
  return `${whole.format(flipped(reads))} in ${count(changed, "read")}${typical === null ? "" : `; half were right within ${seconds(typical)}`}`;
}

// The upper bound of the middle one; the n-th count is of those below 2 to the n nanoseconds.
function median(histogram) {
  let left = histogram.reduce((sum, number) => sum + number, 0) / 2;
  if (!left) return null;
  return 2 ** histogram.findIndex((number) => (left -= number) <= 0) / 1e9;
}
