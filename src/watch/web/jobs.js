// Trainings with their speed, exports of models, and the programs that use GPUs.

import { attribute, byId, figure, gib, make, plural, say, setBar, span, sync } from "/dom.js";

export function line() {
  const li = make("li");
  const top = make("p", "top");
  top.append(make("b"), make("span", "at"));
  li.append(top, make("p"));
  return li;
}

export function setLine(li, [title, at, text]) {
  say(li.firstChild.firstChild, title);
  say(li.firstChild.lastChild, at);
  say(li.lastChild, text);
  li.lastChild.hidden = !text;
}

// --- trainings ---

function trainingLine() {
  const li = line();
  const bar = make("div", "bar");
  bar.append(make("i"));
  li.insertBefore(bar, li.lastChild);
  return li;
}

function setTraining(li, t) {
  const share = t.best ? t.per_second / t.best : undefined;
  setLine(li, [t.experiment ?? t.file, share === undefined ? "" : figure(t.per_second) + " a second", share === undefined ? t.why : Math.round(100 * share) + " % of its best"]);
  li.className = share < 0.7 ? "warn" : "";
  setBar(li.children[1], share);
  if (share < 0.7) li.children[1].firstChild.className = "high";
}

function exportsText(e) {
  if (e?.files_in_a_day === undefined || !e.files_in_a_day) return "";
  const all = "Exports of a day: " + plural(e.files_in_a_day, "model", "models");
  return e.failed ? all + ", " + e.failed + " failed. " + e.last_failed + ": " + (e.error ?? "no reason is known") : all + ", none failed";
}

export function drawTrainings(now) {
  const list = now.jobs?.trainings ?? [];
  const text = exportsText(now.jobs?.exports);
  byId("trainings-h").hidden = !list.length;
  sync(byId("trainings"), list, (t) => t.experiment ?? t.file, trainingLine, setTraining);
  say(byId("exports"), text);
  byId("exports").hidden = !text;
  byId("exports").className = now.jobs?.exports?.failed ? "export warn" : "export";
}

// --- programs ---

const same = ["program", "user", "job", "experiment", "container", "gpu_instance"];

// A program that runs once a GPU is one line.
function groups(processes) {
  const all = new Map();
  for (const p of processes) {
    const key = p.program ? JSON.stringify(same.map((k) => p[k] ?? null)) : "pid " + p.pid;
    all.set(key, [...(all.get(key) ?? []), p]);
  }
  return [...all.values()];
}

// 0, 1, 2, 5 => "0–2, 5"
function runs(numbers) {
  const parts = [];
  for (const n of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = parts[parts.length - 1];
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts.map(([a, b]) => (a === b ? a : a + (b === a + 1 ? ", " : "–") + b)).join(", ");
}

function setProcesses(li, list, now) {
  const [p] = list;
  const memory = list.reduce((sum, q) => sum + (q.memory ?? NaN), 0);
  const started = Math.min(...list.map((q) => q.started ?? Infinity));
  const pids = runs(list.map((q) => q.pid));
  setLine(li, [(p.program ?? "pid " + p.pid) + (list.length > 1 ? " × " + list.length : ""),
    "GPU " + runs(list.map((q) => q.gpu)) + (Number.isFinite(memory) ? " · " + gib(memory) : ""),
    ["pid " + pids, p.user, Number.isFinite(started) && "for " + span(now.time - started), p.gpu_instance !== undefined && "instance " + p.gpu_instance,
      p.job && "Slurm job " + p.job, p.experiment && "experiment " + p.experiment, p.container && "container " + p.container].filter(Boolean).join(" · ")]);
  attribute(li, "title", list.length > 1 ? list.map((q) => "GPU " + q.gpu + ": pid " + q.pid + ", " + gib(q.memory)).join("\n") : null);
}

export function drawProcesses(now) {
  const none = byId("no-processes");
  none.hidden = now.processes.length > 0 || !now.gpus.length;
  none.previousElementSibling.hidden = !now.gpus.length;
  // Without a project and without GPUs there is nothing to say.
  byId("jobs-h").parentElement.hidden = !now.gpus.length && byId("counts").hidden && !byId("trainings").children.length && byId("exports").hidden;
  sync(byId("processes"), groups(now.processes), (list) => list.map((p) => p.gpu + " " + p.pid).join(" "), line, (li, list) => setProcesses(li, list, now));
}
