// Jobs, the queue and experiments: a table, the curves of one metric, and its spread by group.

import { Axis, Chart } from "/chart.js";
import { attribute, byId, figure, make, number, say, span, svg, sync } from "/dom.js";

const shown = 40; // rows of the table
const lines = 8; // curves at a time
const states = ["running", "queued", "done", "failed", "dead", "cancelled", "new"];
const seconds = (text) => Date.parse(text) / 1000;

const value = (e, metric) => {
  const v = e.metrics?.[metric]?.last;
  return typeof v === "number" ? v : null;
};

function where(e) {
  const on = e.gpus?.length ? "GPU " + e.gpus.join(", ") : e.num_gpus ? e.num_gpus + " GPU" + (e.num_gpus === 1 ? "" : "s") : "";
  return [e.partition, on, e.engine === "slurm" ? "Slurm" : ""].filter(Boolean).join(" · ");
}

function took(e, now) {
  if (e.state === "running" && e.started) return span(now - seconds(e.started));
  return e.wall !== null && e.wall !== undefined ? span(e.wall) : "–";
}

export class Experiments {
  constructor(ask) {
    this.ask = ask;
    this.chosen = new Set(); // names; none: the newest that have the metric
    this.curves = new Map(); // "name metric" => {points, of: what the table said}
    this.build();
  }

  build() {
    const tools = make("div", "tools");
    this.filter = make("input");
    Object.assign(this.filter, { type: "search", placeholder: "name, group, state" });
    this.metric = make("select");
    const labelled = (text, control) => {
      const label = make("label", "", text + " ");
      label.append(control);
      return label;
    };
    tools.append(labelled("Show", this.filter), labelled("Metric", this.metric));
    this.pair = make("div", "pair");
    this.axis = new Axis((x) => number(x));
    this.chart = new Chart(this.pair, this.axis, { title: "By step", format: figure, last: true });
    const spread = make("figure", "chart");
    attribute(spread, "aria-label", "Spread of the metric by group");
    const caption = make("figcaption");
    caption.append(make("h3", "", "By group: each run, mean and standard deviation"));
    this.spread = make("ul", "spread");
    spread.append(caption, this.spread);
    this.pair.append(spread);
    const scroll = make("div", "scroll");
    Object.assign(scroll, { tabIndex: 0 });
    attribute(scroll, "role", "region");
    attribute(scroll, "aria-label", "Table of experiments");
    const table = make("table");
    const head = make("thead");
    const row = make("tr");
    this.heads = ["", "Name", "State", "Group", "Where", "Seed", "Took", ""].map((t, i) => make("th", i > 4 ? "n" : "", t));
    this.heads[0].append(make("span", "unseen", "Curve"));
    row.append(...this.heads);
    head.append(row);
    this.rows = make("tbody");
    table.append(head, this.rows);
    scroll.append(table);
    this.box = byId("experiments");
    this.box.append(tools, this.pair, scroll);
    this.filter.addEventListener("input", () => this.draw());
    this.metric.addEventListener("change", () => this.draw());
  }

  set(all, now) {
    this.all = all;
    this.now = now;
    byId("no-project").hidden = all.experiments.length > 0;
    this.box.hidden = !all.experiments.length;
    say(byId("no-project"), all.project === null ? all.why.charAt(0).toUpperCase() + all.why.slice(1) + ". Start the monitor in a project, or with --project DIR." : "The project " + all.project + " has no experiments yet.");
    this.drawQueue();
    this.drawMetrics();
    this.draw();
  }

  drawQueue() {
    const { counts, workers, experiments } = this.all;
    const list = this.all.project === null ? [] : states.filter((s) => counts[s] || s === "running" || s === "queued").map((s) => [s, counts[s] ?? 0]);
    if (this.all.project !== null) list.push(["workers", workers.length]);
    if (counts.window?.ended) list.push(["success, 24 h", number((100 * counts.window.done) / counts.window.ended) + " %"]);
    sync(byId("counts"), list, (c) => c[0], (c) => {
      const div = make("div");
      div.append(make("dt", "", c[0]), make("dd"));
      return div;
    }, (div, c) => say(div.lastChild, String(c[1])));
    const jobs = experiments.filter((e) => e.state === "running" || e.state === "queued").slice(0, 12);
    byId("jobs-list-h").hidden = !jobs.length;
    byId("counts").hidden = !list.length;
    sync(byId("jobs"), jobs, (e) => e.name, () => {
      const li = make("li");
      const top = make("p", "top");
      top.append(make("b"), make("span", "state"), make("span", "at"));
      li.append(top, make("p"));
      return li;
    }, (li, e) => {
      const [name, st, at] = li.firstChild.children;
      say(name, e.name);
      say(st, e.state);
      st.className = "state " + e.state;
      say(at, e.state === "running" ? "for " + took(e, this.now) : "priority " + (e.priority ?? 0));
      const text = [where(e), e.attempt > 1 && "attempt " + e.attempt, e.reason].filter(Boolean).join(" · ");
      say(li.lastChild, text);
      li.lastChild.hidden = !text;
    });
  }

  drawMetrics() {
    const count = new Map();
    for (const e of this.all.experiments) for (const m of Object.keys(e.metrics ?? {})) count.set(m, (count.get(m) ?? 0) + 1);
    const names = [...count.keys()].sort();
    const before = this.metric.value;
    sync(this.metric, names, (m) => m, (m) => {
      const option = make("option", "", m);
      option.value = m;
      return option;
    }, () => {});
    if (names.includes(before)) this.metric.value = before;
    else this.metric.value = [...names].sort((a, b) => count.get(b) - count.get(a) || /loss/.test(b) - /loss/.test(a))[0] ?? "";
    this.metric.parentElement.hidden = !names.length;
  }

  draw() {
    const metric = this.metric.value;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (e) => words.every((w) => [e.name, e.group, e.state].some((t) => t?.toLowerCase().includes(w)));
    const list = this.all.experiments.filter(fits);
    const picked = list.filter((e) => this.chosen.has(e.name));
    const drawn = (picked.length ? picked : list).filter((e) => e.metrics?.[metric]).slice(0, lines);
    this.pair.hidden = !metric;
    say(this.heads[7], metric);
    sync(this.rows, list.slice(0, shown), (e) => e.name, (e) => this.row(e), (tr, e) => this.setRow(tr, e, metric, drawn.indexOf(e)));
    this.drawSpread(list, metric);
    this.drawCurves(drawn, metric);
  }

  row(e) {
    const tr = make("tr");
    for (let i = 0; i < 8; i++) tr.append(make("td", i > 4 ? "n" : ""));
    const box = make("input");
    box.type = "checkbox";
    attribute(box, "aria-label", "Show the curve of " + e.name);
    box.addEventListener("change", () => {
      if (box.checked) this.chosen.add(e.name);
      else this.chosen.delete(e.name);
      this.draw();
    });
    tr.firstChild.append(box);
    return tr;
  }

  setRow(tr, e, metric, color) {
    const box = tr.firstChild.firstChild;
    box.checked = this.chosen.has(e.name);
    box.style.accentColor = color < 0 ? "" : `var(--c${color})`;
    const texts = [e.name, e.state, e.group ?? "", where(e), e.seed ?? "", took(e, this.now), figure(e.metrics?.[metric]?.last)];
    texts.forEach((t, i) => say(tr.children[i + 1], String(t)));
    tr.children[2].className = "state " + e.state;
    attribute(tr.children[2], "title", e.reason);
  }

  async drawCurves(drawn, metric) {
    const key = (e) => e.name + " " + metric;
    const said = (e) => e.attempt + " " + e.metrics[metric].points;
    for (const e of drawn) {
      if (this.curves.get(key(e))?.of === said(e)) continue;
      try {
        const c = await this.ask("/api/v1/curve?experiment=" + encodeURIComponent(e.name) + "&metric=" + encodeURIComponent(metric));
        this.curves.set(key(e), { of: said(e), points: c.points });
      } catch {
        return; // the next look asks again
      }
    }
    if (metric !== this.metric.value) return;
    const used = new Set(drawn.map(key)); // what is no longer drawn is asked for again when it is
    for (const k of this.curves.keys()) if (!used.has(k)) this.curves.delete(k);
    const of = (e) => this.curves.get(key(e)).points.filter((p) => typeof p[1] === "number");
    const xs = [...new Set(drawn.flatMap((e) => of(e).map((p) => p[0])))].sort((a, b) => a - b);
    const at = new Map(xs.map((x, i) => [x, i]));
    const series = drawn.map((e, i) => {
      const values = Array(xs.length).fill(null);
      const points = of(e);
      points.forEach((p, k) => {
        values[at.get(p[0])] = p[1];
        // a line from point to point, also where other runs have steps between them
        const next = points[k + 1];
        for (let j = at.get(p[0]) + 1; next && j < at.get(next[0]); j++)
          values[j] = p[1] + ((next[1] - p[1]) * (xs[j] - p[0])) / (next[0] - p[0]);
      });
      return { name: e.name, color: i % 8, values };
    });
    say(this.chart.head.firstChild, metric + " by step");
    this.chart.o.title = metric + " by step";
    this.chart.set({ xs, series });
  }

  drawSpread(list, metric) {
    const groups = new Map();
    for (const e of list) {
      const v = value(e, metric);
      if (v !== null && e.group) groups.set(e.group, [...(groups.get(e.group) ?? []), v]);
    }
    const rows = [...groups].filter((g) => g[1].length > 1).slice(0, 12);
    const all = rows.flatMap((g) => g[1]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    this.spread.parentElement.hidden = !rows.length;
    sync(this.spread, rows, (g) => g[0], () => {
      const li = make("li");
      li.append(make("span"), svg("svg", { "aria-hidden": "true" }), make("b"));
      return li;
    }, (li, [name, values]) => {
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      const sd = Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1));
      const x = (v) => 6 + (88 * (v - low)) / (high - low || 1) + "%";
      say(li.firstChild, name);
      say(li.lastChild, figure(mean) + " ± " + sd.toPrecision(2) + " (" + values.length + ")");
      const part = (x1, x2, y1, y2) => svg("line", { class: "whisker", x1, x2, y1, y2 });
      li.children[1].replaceChildren(part(x(mean - sd), x(mean + sd), 10, 10), part(x(mean), x(mean), 4, 16),
        ...values.map((v) => svg("circle", { cx: x(v), cy: 10, r: 3.5 })));
    });
  }
}
