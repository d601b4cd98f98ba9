// The dashboard: asks for what is now, for the history and for events, and shows them.

import { Axis, Chart } from "/chart.js";
import { attribute, byId, clock, day, gib, make, moment, number, percent, plural, say, span, speed, sync } from "/dom.js";
import { Experiments } from "/experiments.js";
import { drawTiles } from "/gpus.js";
import { drawProcesses, drawTrainings, line, setLine } from "/jobs.js";
import { drawPeers } from "/peers.js";

const ranges = [["10 min", 600], ["1 h", 3600], ["6 h", 21600], ["24 h", 86400], ["7 d", 604800], ["90 d", 7776000]];
const order = ["critical", "warn", "unknown", "ok", "not judged"];
const every = 2; // seconds between two questions
const state = { range: 600, now: null, history: null, events: [], peers: [], asked: {} };

// --- time ---

const steps = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600];

function timeLabel(time, step) {
  if (step === undefined) return (state.range > 86400 ? day(time) + " " : "") + clock(time, state.range <= 21600);
  return step >= 86400 ? day(time) : clock(time, step < 60);
}

const axis = new Axis(timeLabel);
const ticks = (least) => steps.find((s) => s >= least) ?? steps[steps.length - 1];

function chart(parent, title, o) {
  return new Chart(byId(parent), axis, { title, ticks, min: 0, ...o });
}

const tickGib = (v) => number(v / 2 ** 30) + " GiB";
const charts = {
  utilization: chart("charts", "Utilization", { lanes: true, format: percent, max: 100 }),
  memory_used: chart("charts", "Memory", { lanes: true, format: gib, tick: tickGib, base: 2 ** 30 }),
  temperature: chart("charts", "Temperature", { lanes: true, format: (v) => number(v) + " °C", min: 20 }),
  power: chart("charts", "Power", { lanes: true, format: (v) => number(v) + " W" }),
  clock_sm: chart("charts", "Clock", { lanes: true, format: (v) => number(v / 1e6) + " MHz", base: 1e6 }),
  memory_utilization: chart("charts", "Memory traffic", { lanes: true, format: percent, max: 100 }),
  cpu: chart("host-charts", "Processors", { format: percent, max: 100 }),
  memory: chart("host-charts", "Memory of the host", { format: gib, tick: tickGib, base: 2 ** 30 }),
  disk: chart("host-charts", "Disks", { format: speed, base: 2 ** 20 }),
  net: chart("host-charts", "Networks", { format: speed, base: 2 ** 20 }),
};

// --- health ---

function drawHealth(now) {
  const of = Object.fromEntries(order.map((h) => [h, now.verdicts.filter((v) => v.health === h)]));
  const words = { ok: "All is well", warn: "Warning", critical: "Critical", unknown: "Unknown" };
  const parts = [];
  if (of.critical.length) parts.push(of.critical.length + " critical");
  if (of.warn.length) parts.push(plural(of.warn.length, "warning", "warnings"));
  if (of.unknown.length) parts.push(of.unknown.length + " unknown");
  parts.push(plural(of.ok.length, "check is ok", "checks are ok"));
  if (of["not judged"].length) parts.push(of["not judged"].length + " cannot be judged here");
  const text = (words[now.health] ?? now.health) + parts.join(", ");
  const node = byId("health");
  if (node.textContent !== text) node.replaceChildren(make("b", "", words[now.health] ?? now.health), make("span", "", parts.join(", ")));
  node.className = "health " + now.health;
  const bad = order.slice(0, 3).flatMap((h) => of[h]);
  sync(byId("reasons"), bad, (v) => v.of + " " + v.rule, reason, (li, v) => {
    li.className = v.health;
    const [level, whom, time] = li.firstChild.children;
    say(level, v.health);
    say(whom, v.of);
    say(time, "for " + span(now.time - v.since));
    say(li.children[1], (v.health === "unknown" ? "cannot be judged: " : "") + (v.cause ?? v.rule));
    say(li.children[2], v.evidence + " [" + v.rule + "]");
    say(li.children[3], v.advice ?? "");
    li.children[3].hidden = !v.advice;
  });
  if (byId("checks").open) drawChecks(now);
  document.title = (now.health === "ok" ? "" : now.health.toUpperCase() + " · ") + now.machine + " · lockstep monitor";
}

function reason() {
  const li = make("li");
  const top = make("p", "top");
  top.append(make("b"), make("span"), make("time"));
  li.append(top, make("p", "cause"), make("p", "evidence"), make("p", "advice"));
  return li;
}

function row(n) {
  const tr = make("tr");
  for (let i = 0; i < n; i++) tr.append(make("td"));
  return tr;
}

function drawChecks(now) {
  const all = [...now.verdicts].sort((a, b) => order.indexOf(a.health) - order.indexOf(b.health));
  sync(byId("all"), all, (v) => v.of + " " + v.rule, () => row(4), (tr, v) => {
    [v.health, v.of, v.rule, v.evidence].forEach((t, i) => say(tr.children[i], t));
    tr.firstChild.className = "badge " + v.health;
  });
}

// --- GPUs, host, events ---

function drawGpus(now) {
  byId("no-gpu").hidden = now.gpus.length > 0;
  say(byId("no-gpu"), "No GPU is watched: " + (now.no_gpu_because ?? "the driver has none") + ". The host, jobs and experiments are. Where there should be none, start it with --gpus 0.");
  // Without GPUs the host has the place of their charts.
  const place = now.gpus.length ? byId("host").parentElement : byId("over-time");
  if (byId("host-charts").parentElement !== place) place.append(byId("host-charts"));
  byId("charts").hidden = !now.gpus.length;
  drawTiles(now, state.history, (name) => axis.light(name));
  say(byId("machine"), now.machine || "lockstep monitor");
  const kinds = [...new Set(now.gpus.map((g) => g.name ?? "GPU"))].map((k) => now.gpus.filter((g) => (g.name ?? "GPU") === k).length + " × " + k);
  say(byId("about"), [kinds.join(", "), now.driver && "driver " + now.driver].filter(Boolean).join(" · ") || "no GPU");
}


function facts(node, list) {
  sync(node, list, (f) => f[0], (f) => {
    const div = make("div");
    div.append(make("dt", "", f[0]), make("dd"));
    div.lastChild.append(make("span"), make("small"));
    return div;
  }, (div, f) => {
    say(div.lastChild.firstChild, f[1]);
    say(div.lastChild.lastChild, f[2] ?? "");
  });
}

// What the charts below do not show.
function drawHost(now) {
  const h = now.host;
  const list = [];
  if (h.cpu_busy !== undefined) list.push(["Processors", percent(h.cpu_busy * 100), h.cpus + " of them, the busiest " + percent(h.cpu_busiest * 100)]);
  if (h.load !== undefined) list.push(["Load", number(h.load, 1), "over a minute"]);
  if (h.memory_total) list.push(["Memory", gib(h.memory_total - h.memory_available), "of " + gib(h.memory_total)]);
  if (h.io_wait !== undefined) list.push(["Disk wait", percent(h.io_wait * 100), "of the time"]);
  if (h.disk_total) list.push(["Disk of /", percent(100 - (100 * h.disk_available) / h.disk_total), gib(h.disk_available) + " free"]);
  facts(byId("host"), list);
  byId("host").parentElement.hidden = !list.length;
}

// The time of an event is a button that shows the charts at that moment.
function eventLine() {
  const li = line();
  const at = make("button", "plain at");
  at.type = "button";
  attribute(at, "title", "Show the charts at this time");
  at.addEventListener("click", () => {
    axis.move(Number(li.dataset.time));
    byId("over-time").scrollIntoView({ block: "nearest", behavior: "smooth" });
  });
  li.firstChild.lastChild.replaceWith(at);
  return li;
}

function drawEvents() {
  const list = [...state.events].reverse();
  byId("no-events").hidden = list.length > 0;
  sync(byId("events"), list, (e) => e.time + " " + e.kind + " " + (e.of ?? "") + " " + (e.rule ?? "") + " " + e.text, eventLine, (li, e) => {
    li.className = e.health ?? "info";
    li.dataset.time = e.time;
    setLine(li, [e.text, moment(e.time, state.now.time), [e.kind, e.of].filter(Boolean).join(" · ")]);
  });
}

// --- over time ---

function marks() {
  return state.events.filter((e) => e.health === "critical" || e.health === "warn" || e.kind === "xid").map((e) => ({ x: e.time, cls: e.health ?? "info" }));
}

const levels = ["ok", "unknown", "warn", "critical"];

function healthRuns(health) {
  const runs = [];
  health.forEach((v, i) => {
    const last = runs[runs.length - 1];
    if (v === null) return;
    if (last && last.v === v && last.to === i) last.to = i + 1;
    else runs.push({ v, from: i, to: i + 1 });
  });
  return runs;
}

// Events that would lie on one another share a mark, with the worst of their colours. A mark
// is a stretch of time of its own, so that the axis can move on under a mark with the focus.
function eventGroups(first, last) {
  const groups = new Map();
  const stretch = 2 ** Math.ceil(Math.log2((last - first) / 80));
  for (const e of state.events) {
    if (!(e.time >= first && e.time < last)) continue;
    const place = Math.floor(e.time / stretch);
    const g = groups.get(place) ?? { time: e.time, cls: "info", texts: [] };
    if (e.health && levels.indexOf(e.health) >= levels.indexOf(g.cls)) g.cls = e.health;
    g.texts.push(timeLabel(e.time) + " " + (e.of && e.of !== "host" ? e.of + ": " : "") + e.text);
    groups.set(place, g);
  }
  return [...groups.values()];
}

function eventMark() {
  const b = make("button");
  b.type = "button";
  b.addEventListener("click", () => axis.move(Number(b.dataset.time)));
  b.addEventListener("focus", () => axis.move(Number(b.dataset.time)));
  b.addEventListener("blur", () => axis.move(null));
  return b;
}

function drawBand(h, xs) {
  const runs = healthRuns(h.host.health);
  const [first, last] = [h.from, h.from + xs.length * h.step];
  const label = (r) => levels[Math.round(r.v)] + " from " + timeLabel(xs[r.from]) + " to " + timeLabel(xs[r.to - 1]);
  sync(byId("band"), runs, (r, i) => i, () => make("i"), (node, r) => {
    node.className = levels[Math.round(r.v)] ?? "unknown";
    node.style.left = (r.from / xs.length) * 100 + "%";
    node.style.width = ((r.to - r.from) / xs.length) * 100 + "%";
    attribute(node, "title", label(r));
  });
  attribute(byId("band"), "aria-label", "Health over time: " + (runs.filter((r) => r.v > 1).map(label).join(", ") || "nothing to report"));
  sync(byId("marks"), eventGroups(first, last), (g) => g.time, eventMark, (node, g) => {
    node.className = g.cls;
    node.dataset.time = g.time;
    node.style.left = ((g.time - first) / (last - first)) * 100 + "%";
    const more = g.texts.length > 6 ? ["and " + (g.texts.length - 6) + " more"] : [];
    attribute(node, "title", [...g.texts.slice(0, 6), ...more].join("\n"));
    attribute(node, "aria-label", node.title);
  });
  say(byId("band-from"), timeLabel(xs[0]));
  say(byId("band-to"), timeLabel(xs[xs.length - 1]));
}

// Without the time before the monitor began, which would push all that is known to the edge.
function trim(h) {
  const columns = Object.values(h.host);
  const n = columns[0].length;
  const first = columns[0].findIndex((_, i) => columns.some((c) => c[i] !== null));
  const cut = Math.max(0, Math.min(first, n - 30));
  const rest = (o) => Object.fromEntries(Object.entries(o).map(([k, v]) => [k, Array.isArray(v) ? v.slice(cut) : v]));
  return { from: h.from + cut * h.step, step: h.step, host: rest(h.host), gpus: h.gpus.map(rest) };
}

const most = (list) => {
  const known = list.filter((v) => typeof v === "number");
  return known.length ? Math.max(...known) : undefined;
};
const least = (list) => {
  const known = list.filter((v) => typeof v === "number");
  return known.length ? Math.min(...known) : undefined;
};

function drawHistory() {
  const { history: h, now } = state;
  if (!h || !now) return;
  const xs = h.host.cpu_busy.map((_, i) => h.from + (i + 0.5) * h.step);
  const common = { xs, marks: marks() };
  const of = (column) => h.gpus.map((g) => ({ name: "GPU " + g.index, color: g.index % 8, values: g[column] ?? [] }));
  const metric = (name) => now.gpus.map((g) => g.metrics[name]);
  const limit = (value, name) => (value === undefined ? [] : [{ value, name }]);
  const total = most(metric("memory_total"));
  const slow = least(metric("temperature_slowdown"));
  const cap = most(metric("power_limit"));
  charts.utilization.set({ ...common, series: of("utilization") });
  charts.memory_used.set({ ...common, series: of("memory_used"), max: total, limits: [], high: total && total * 0.9 });
  charts.temperature.set({ ...common, series: of("temperature"), max: slow && slow + 6, limits: limit(slow, "slows down"), high: slow && slow - 6 });
  charts.power.set({ ...common, series: of("power"), max: cap && cap * 1.08, limits: limit(cap, "limit") });
  charts.cpu.set({ ...common, series: [{ name: "all", color: 0, values: h.host.cpu_busy }, { name: "busiest", color: 6, values: h.host.cpu_busiest }] });
  charts.memory.set({ ...common, series: [{ name: "used", color: 1, values: h.host.memory_used }], max: now.host.memory_total });
  charts.clock_sm.set({ ...common, series: of("clock_sm"), max: most(metric("clock_sm_max")) * 1.05 || undefined });
  charts.memory_utilization.set({ ...common, series: of("memory_utilization") });
  charts.disk.set({ ...common, series: [{ name: "read", color: 2, values: h.host.disk_read ?? [] }, { name: "written", color: 6, values: h.host.disk_write ?? [] }] });
  charts.net.set({ ...common, series: [{ name: "received", color: 4, values: h.host.net_received ?? [] }, { name: "sent", color: 3, values: h.host.net_sent ?? [] }] });
  for (const c of [charts.clock_sm, charts.memory_utilization, charts.cpu, charts.memory, charts.disk, charts.net]) c.node.hidden = c.data.series.every((s) => most(s.values) === undefined);
  drawBand(h, xs);
}

// --- asking ---

class Unanswered extends Error {}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(10000) }).catch((e) => {
    throw new Unanswered(path + ": " + e.message);
  });
  if (!answer.ok) throw new Unanswered(path + ": " + answer.status);
  return answer.json().catch((e) => {
    throw new Unanswered(path + ": " + e.message);
  });
}

function due(what, seconds) {
  const t = performance.now() / 1000;
  if (t - (state.asked[what] ?? -1e9) < seconds) return false;
  state.asked[what] = t;
  return true;
}

const experiments = new Experiments(ask);

// All of them once, then only the newest.
async function askEvents(now) {
  const again = state.eventsAt !== undefined && now - state.eventsAt < 60;
  const list = await ask("/api/v1/events?range=" + (again ? 120 : Math.max(state.range, 86400)));
  const have = new Set(state.events.slice(-500).map((e) => JSON.stringify(e)));
  state.events = again ? [...state.events, ...list.filter((e) => !have.has(JSON.stringify(e)))].slice(-500) : list;
  state.eventsAt = now;
}

async function askExperiments(now) {
  const all = await ask("/api/v1/experiments?seen=" + (experiments.all?.version ?? ""));
  experiments.set(all.same ? experiments.all : all, now);
}

async function look() {
  state.now = await ask("/api/v1/now");
  if (!state.history || due("history", Math.min(60, Math.max(every, state.range / 300))))
    state.history = trim(await ask("/api/v1/history?range=" + state.range));
  if (due("peers", state.peers.length ? 3 : 60)) state.peers = (await ask("/api/v1/peers")).peers;
  if (due("events", 5)) await askEvents(state.now.time);
  if (due("experiments", 5)) await askExperiments(state.now.time);
}

function draw() {
  const { now } = state;
  drawHealth(now);
  drawPeers(state.peers);
  drawGpus(now);
  drawHost(now);
  drawTrainings(now);
  drawProcesses(now);
  drawEvents();
  drawHistory();
}

// A monitor whose driver hangs answers with the last sample for ever.
function isLate() {
  const t = performance.now() / 1000;
  if (state.now?.time !== state.seen?.time) state.seen = { time: state.now.time, at: t };
  return state.now?.late_after !== undefined && t - state.seen.at > state.now.late_after;
}

function setLive(answered) {
  const node = byId("live");
  const late = answered && isLate();
  const on = answered && !late;
  node.className = on ? "live" : "live off";
  document.body.classList.toggle("stale", !on);
  say(node, on ? "live, " + clock(state.now.time) : (late ? "no new sample" : "no answer") + (state.now ? " since " + clock(state.now.time) : ""));
}

async function run() {
  for (;;) {
    const began = performance.now();
    if (!document.hidden) {
      try {
        await look();
        draw();
        setLive(true);
        document.documentElement.dataset.drawn = "yes";
      } catch (e) {
        if (!(e instanceof Unanswered)) console.error(e);
        setLive(false);
      }
    }
    await new Promise((r) => { state.wake = r; setTimeout(r, Math.max(200, every * 1000 - (performance.now() - began))); });
  }
}

// --- controls ---

function chooseRange(seconds) {
  state.range = seconds;
  state.asked = {};
  state.eventsAt = undefined;
  state.wake?.();
}

function makeRanges() {
  const wanted = Number(new URLSearchParams(location.search).get("range"));
  if (ranges.some((r) => r[1] === wanted)) state.range = wanted;
  for (const [name, seconds] of ranges) {
    const label = make("label");
    const input = make("input");
    Object.assign(input, { type: "radio", name: "range", value: seconds, checked: seconds === state.range });
    input.addEventListener("change", () => chooseRange(seconds));
    label.append(input, make("span", "", name));
    byId("ranges").append(label);
  }
}

function remember(theme) {
  try {
    localStorage.setItem("theme", theme);
  } catch { /* a browser without storage forgets */ }
}

function remembered() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

function setTheme(theme) {
  attribute(document.documentElement, "data-theme", theme || null);
  byId("theme").value = theme || "";
}

setTheme(new URLSearchParams(location.search).get("theme") ?? remembered());
byId("theme").addEventListener("change", (e) => {
  setTheme(e.target.value);
  remember(e.target.value);
});
byId("checks").addEventListener("toggle", () => state.now && drawChecks(state.now));
document.addEventListener("visibilitychange", () => state.wake?.());
makeRanges();
run();
