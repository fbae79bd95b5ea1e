// What ties the page together: the connection, the token, keys and themes.

const darkness = matchMedia("(prefers-color-scheme: dark)");
let known = 0, isLive = false, heardAt = 0, failure = "";

// Only what still has a picture is asked for.
function welcome(told) {
  byId("entrance").hidden = true;
  byId("main").hidden = false;
  failure = "";
  if (status === null) known = told.violations;
  if (isAnew(told)) forget();
  hearStatus(told);
  return Math.max(last, told.violations - MOST);
}

function hearStatus(told) {
  // All listeners get the same status, so it may be a little older than the requested one.
  if (!isLive || told.start !== status.start || told.uptime >= status.uptime) take(told);
  isLive = true;
  heardAt = now();
  if (!document.hidden) showNow();
}

function showNow() {
  if (status !== null) show();
  connection();
}

function connection() {
  const state = isLive ? (status.state === "running" ? "live" : status.state) : status ? "reconnecting" : "connecting";
  byId("connection").dataset.state = state;
  set(byId("connection"), state);
  root.classList.toggle("stale", !isLive && status !== null);
  set(byId("problem"), problem());
}

function problem() {
  if (failure) return `${failure}.`;
  if (!isLive) return status ? `Nothing was heard for ${duration(now() - heardAt)}.` : "";
  return status.problem || (status.state === "running" ? "" : `The service is ${status.state}: it takes no more batches.`);
}

function lost(error) {
  if (isLive) past.add({ at: now() });
  isLive = false;
  if (error instanceof Asked && error.status === 401) return entrance();
  failure = error instanceof Asked ? error.message : "";
  connection();
  return false;
}

// Resolves when the user has entered a token.
function entrance() {
  set(byId("connection"), "token needed");
  byId("connection").dataset.state = "waiting";
  set(byId("entrance-why"), sessionStorage.getItem(STORED) === null ? "" : "That token was refused.");
  byId("main").hidden = true;
  byId("entrance").hidden = false;
  byId("token").focus();
  return new Promise((resolve) => {
    byId("entrance-form").onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem(STORED, byId("token").value);
      byId("token").value = "";
      resolve(true);
    };
  });
}

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox])")) return;
  const actions = {
    j: () => step(1), k: () => step(-1), f: () => byId("follow").click(),
    // Elsewhere the arrow keys scroll, which people without a mouse need.
    ...(event.target.closest("#contents") ? { ArrowDown: () => step(1), ArrowUp: () => step(-1) } : {}),
  };
  if (!Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}

// The system's theme until the user chooses one.
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);

function nameTheme() {
  set(byId("theme"), isDark() ? "Light" : "Dark");
  byId("theme").setAttribute("aria-label", `switch to the ${isDark() ? "light" : "dark"} theme`);
}

function changeTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
}

function start() {
  root.classList.add("js");
  set(byId("host"), location.host);
  nameTheme();
  darkness.addEventListener("change", nameTheme);
  byId("theme").addEventListener("click", changeTheme);
  byId("contents").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) pick(Number(button.dataset.id));
  });
  document.addEventListener("keydown", key);
  document.addEventListener("visibilitychange", () => document.hidden || showNow());
  setInterval(showLatest, 250);
  // Charts move on while nothing is heard.
  setInterval(() => isLive || !byId("entrance").hidden || document.hidden || showNow(), 1000);
  const kinds = { violation: hear, retraction: hear, status: hearStatus };
  connect({ welcome, lost, heard: (kind, data) => kinds[kind]?.(data) });
}

start();
