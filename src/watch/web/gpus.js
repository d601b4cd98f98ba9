// A tile for each GPU: what it does now, what is wrong with it, and for whom it works.

import { sparkline, sparklineNode } from "/chart.js";
import { attribute, byId, make, number, percent, plural, say, setBar, sync } from "/dom.js";

const order = ["critical", "warn", "unknown", "ok", "not judged"];

// Why clocks are low. A GPU at its power limit does what it can.
const slow = {
  "sw-power-cap": ["", "at its power limit"],
  "sync-boost": ["", "waits for its group's clock"],
  "sw-thermal": ["warn", "slowed down by heat"],
  "hw-thermal": ["warn", "slowed down by heat (hardware)"],
  "hw-slowdown": ["warn", "slowed down by the hardware"],
  "hw-power-brake": ["warn", "slowed down: power brake"],
};

function measure(name) {
  const node = make("div", "measure");
  const bar = make("div", "bar");
  bar.append(make("i"));
  node.append(make("span", "", name), make("span"), bar);
  return node;
}

function setMeasure(node, text, share, high = 0.9, full = 1.1) {
  say(node.children[1], text);
  setBar(node.lastChild, share, high, full);
}

function tile(light) {
  const li = make("li", "tile");
  const top = make("p", "top");
  const name = make("button", "plain");
  name.type = "button";
  attribute(name, "title", "Show this one in the charts");
  name.addEventListener("click", () => light(name.textContent));
  top.append(name, make("span", "name"), make("span", "badge"));
  const load = make("div", "load");
  load.append(make("div", "big"), sparklineNode());
  const measures = make("div", "measures");
  measures.append(measure("Memory"), measure("Temperature"), measure("Power"), measure("Clock"));
  li.append(top, load, measures, make("ul", "chips"));
  return li;
}

function chipsOf(g, processes) {
  const m = g.metrics;
  const chips = [];
  if (g.lost) chips.push(["warn", g.lost]);
  for (const t of g.throttle_reasons ?? []) chips.push(slow[t] ?? ["warn", "slowed down: " + t]);
  if (m.ecc_uncorrected) chips.push(["warn", plural(m.ecc_uncorrected, "uncorrected error", "uncorrected errors")]);
  if (m.remap_pending) chips.push(["warn", "row remap pending"]);
  if (m.ecc === 0) chips.push(["", "ECC off"]);
  for (const i of g.instances ?? []) chips.push(["", "MIG " + i.gpu_instance + " " + (i.profile ?? "") + (i.memory_total ? " " + number(i.memory_used / 2 ** 30, 1) + "/" + number(i.memory_total / 2 ** 30) + " GiB" : "")]);
  if (m.mig && !g.instances?.length) chips.push(["", "MIG without instances"]);
  for (const p of processes) chips.push(["", [p.program ?? "pid " + p.pid, p.experiment ?? (p.job && "job " + p.job)].filter(Boolean).join(" · ")]);
  if (!processes.length && !g.lost) chips.push(["", "no program"]);
  return chips;
}

function drawTile(li, g, now, history) {
  const m = g.metrics;
  const health = order.find((h) => now.verdicts.some((v) => v.gpu === g.index && v.health === h)) ?? "unknown";
  const shown = health === "not judged" ? "unknown" : health;
  li.className = "tile " + shown + (g.lost ? " lost" : "");
  const [name, model, badge] = li.firstChild.children;
  say(name, "GPU " + g.index);
  say(model, g.name ?? "");
  attribute(model, "title", [g.name, g.serial && "serial " + g.serial, g.uuid, g.pci].filter(Boolean).join(" · "));
  say(badge, shown);
  const [big, spark] = li.children[1].children;
  say(big, percent(m.utilization));
  const h = history?.gpus.find((x) => x.index === g.index);
  sparkline(spark, h?.utilization ?? [], 100);
  const [memory, temperature, power, sm] = li.children[2].children;
  setMeasure(memory, number(m.memory_used / 2 ** 30, m.memory_used < 9.95 * 2 ** 30 ? 1 : 0) + "/" + number(m.memory_total / 2 ** 30) + " GiB", m.memory_used / m.memory_total);
  const top = m.temperature_slowdown ?? m.temperature + m.temperature_margin;
  setMeasure(temperature, number(m.temperature) + " °C", m.temperature / top, 0.93, 1);
  setMeasure(power, number(m.power) + "/" + number(m.power_limit) + " W", m.power / m.power_limit, 0.99);
  setMeasure(sm, number(m.clock_sm / 1e6) + " MHz", m.clock_sm / m.clock_sm_max, 9);
  sync(li.children[3], chipsOf(g, now.processes.filter((p) => p.gpu === g.index)), (c, i) => i, () => make("li"), (c, [cls, text]) => {
    c.className = cls;
    say(c, text);
  });
}

// light(name): the one whose name was clicked stands out in the charts.
export function drawTiles(now, history, light) {
  sync(byId("gpus"), now.gpus, (g) => g.index, () => tile(light), (li, g) => drawTile(li, g, now, history));
}
