// The service's answers. The browser's own EventSource cannot say a token; this reads the stream itself.

// Seconds of silence after which the stream counts as lost: the status comes every second.
const SILENCE = 6;
const LONGEST_WAIT = 8;
const STORED = "isoscope-token";

class Asked extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, { signal, headers = {} } = {}) {
  const token = sessionStorage.getItem(STORED);
  const sent = token ? { ...headers, Authorization: `Bearer ${token}` } : headers;
  const answer = await fetch(path, { headers: sent, signal, cache: "no-store" });
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Asked(answer.status, typeof said.error === "string" ? said.error : `the service answered ${answer.status}`);
}

// Integers that JavaScript cannot hold stay the digits that they are.
function parse(text) {
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source) ? context.source : value);
}

// Calls `heard(kind, data)` for every event after number `after`, until the stream ends or is silent for too long.
async function listen(after, heard) {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), SILENCE * 1000);
  try {
    const answer = await ask("/v1/events", { signal: stop.signal, headers: { "Last-Event-ID": String(after) } });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), SILENCE * 1000);
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) tell(event, heard);
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

function tell(event, heard) {
  const fields = new Map(event.split("\n").map((line) => /^(\w*):? ?(.*)$/.exec(line)?.slice(1) ?? []));
  if (fields.has("data")) heard(fields.get("event"), parse(fields.get("data")));
}

// Stays connected for good. `welcome(status)` says after which violation to go on; `lost(error)` hears of every end,
// may take its time, and says whether to try again at once.
async function connect({ welcome, heard, lost }) {
  for (let wait = 1; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      const after = welcome(parse(await (await ask("/v1/status")).text()));
      wait = 0.5;
      await listen(after, heard);
      await lost(null);
    } catch (error) {
      // After a new token the next attempt comes at once.
      if (await lost(error)) wait = 0.1;
    }
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  }
}
