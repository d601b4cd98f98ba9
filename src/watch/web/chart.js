// Lines over time, or over steps: one element a chart. All charts of one axis share a cursor,
// which the pointer and the arrow keys move; the legend shows the values where it is. More series
// than a plot can tell apart get a row each, below one another: lanes.

import { attribute, byId, make, say, svg, sync } from "/dom.js";

const edge = { right: 10, top: 8, bottom: 20 };
const crowd = 4; // series that one plot can hold
const laneHeight = (n) => (n <= 8 ? 24 : n <= 16 ? 19 : 16);

export class Axis {
  constructor(label) {
    this.label = label; // (x, step) => text
    this.cursor = null; // an x, or null: the newest
    this.lit = null; // the name of the series that stands out
    this.charts = [];
  }

  move(x) {
    this.cursor = x;
    for (const chart of this.charts) chart.drawCursor();
  }

  light(name) {
    this.lit = this.lit === name ? null : name;
    for (const chart of this.charts) chart.draw();
  }
}

function nice(span, n) {
  const raw = span / n || 1;
  const ten = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 2.5, 5, 10].map((f) => f * ten).find((s) => s >= raw * 0.999);
}

// How far apart two points may be without a gap: a monitor may look less often than the spans of
// the history are long, and one look may come late.
function reach(known) {
  const apart = known.slice(1).map((at, i) => at - known[i]).sort((a, b) => a - b);
  return Math.max(2, 1.5 * (apart[apart.length >> 1] ?? 1));
}

// A gap is a gap; a point between two gaps is a dot, which round caps make of a line of no length.
function path(values, x, y) {
  const known = values.flatMap((v, i) => (typeof v === "number" ? [i] : []));
  const far = reach(known);
  return known.map((i, k) => {
    const at = x(i).toFixed(1) + " " + y(values[i]).toFixed(1);
    return k && i - known[k - 1] <= far ? "L" + at : "M" + at + "h.01";
  }).join("");
}

// What is between the line and the floor, gap by gap.
function area(values, x, y, floor) {
  const known = values.flatMap((v, i) => (typeof v === "number" ? [i] : []));
  const far = reach(known);
  return known.map((i, k) => {
    const at = x(i).toFixed(1);
    const begin = k && i - known[k - 1] <= far ? "L" : "M" + at + " " + floor + "L";
    const end = known[k + 1] - i <= far ? "" : "V" + floor + "Z";
    return begin + at + " " + y(values[i]).toFixed(1) + end;
  }).join("");
}

export class Chart {
  // o: title, format(v), tick(v): of the labels, ticks(least) => step of the axis, min, max,
  // base: what round numbers are multiples of; lanes: many series get a row each; last: without
  // a cursor each series shows its own last value
  constructor(parent, axis, o) {
    this.o = o;
    this.axis = axis;
    this.data = { xs: [], series: [] };
    axis.charts.push(this);
    this.node = make("figure", "chart");
    this.node.tabIndex = 0;
    this.head = make("figcaption");
    this.head.append(make("h3", "", o.title));
    this.scope = make("span", "scope");
    this.legend = make("ul", "legend");
    this.head.append(this.scope, this.legend);
    this.body = make("div", "body");
    this.plot = make("div", "plot");
    this.svg = svg("svg", { "aria-hidden": "true" });
    this.plot.append(this.svg);
    this.body.append(this.plot);
    this.node.append(this.head, this.body);
    parent.append(this.node);
    this.line = svg("line", { class: "cursor" });
    this.when = svg("text", { class: "when" });
    new ResizeObserver(() => this.draw()).observe(this.plot);
    this.plot.addEventListener("pointermove", (e) => this.point(e));
    this.plot.addEventListener("pointerdown", (e) => this.point(e));
    this.plot.addEventListener("pointerleave", () => this.axis.move(null));
    this.node.addEventListener("keydown", (e) => this.key(e));
    this.node.addEventListener("blur", () => this.axis.move(null));
  }

  // data: xs, series [{name, values, color}], marks [{x, cls, text}], limits [{value, name}], max,
  // high: from where on a lane has the colour of a warning
  set(data) {
    this.data = data;
    const lanes = Boolean(this.o.lanes) && data.series.length > crowd;
    if (lanes !== this.lanes) {
      this.lanes = lanes;
      this.node.classList.toggle("lanes", lanes);
      if (lanes) this.body.prepend(this.legend);
      else this.head.append(this.legend);
    }
    const each = laneHeight(data.series.length);
    this.plot.style.height = lanes ? edge.top + each * data.series.length + edge.bottom + "px" : "";
    this.legend.style.gridAutoRows = lanes ? each + "px" : "";
    this.draw();
  }

  point(e) {
    const { xs } = this.data;
    const inside = (e.clientX - this.plot.getBoundingClientRect().left - this.left) / (this.width - this.left - edge.right);
    if (xs.length) this.axis.move(xs[0] + Math.min(1, Math.max(0, inside)) * (xs[xs.length - 1] - xs[0]));
  }

  key(e) {
    const { xs } = this.data;
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -xs.length, End: xs.length }[e.key];
    if (e.target !== this.node) return;
    if (e.key === "Escape") this.axis.move(null);
    if (!by || !xs.length) return;
    e.preventDefault();
    this.axis.move(xs[Math.min(xs.length - 1, Math.max(0, this.at() + by))]);
    say(byId("readout"), this.o.title + ", " + this.axis.label(xs[this.at()]) + ": " + this.values(this.at()));
  }

  // The point that the cursor is at, or the last one that has a value.
  at() {
    const { xs, series } = this.data;
    if (this.axis.cursor !== null) {
      let best = 0;
      xs.forEach((x, i) => {
        if (Math.abs(x - this.axis.cursor) < Math.abs(xs[best] - this.axis.cursor)) best = i;
      });
      return best;
    }
    for (let i = xs.length - 1; i > 0; i--) if (series.some((s) => typeof s.values[i] === "number")) return i;
    return 0;
  }

  value(s, i) {
    const last = this.o.last && this.axis.cursor === null;
    return this.o.format(last ? s.values.findLast((v) => typeof v === "number") : s.values[i]);
  }

  values(i) {
    return this.data.series.map((s) => s.name + " " + this.value(s, i)).join(", ");
  }

  scale() {
    const all = this.data.series.flatMap((s) => s.values).filter((v) => typeof v === "number");
    let low = Math.min(this.o.min ?? Infinity, ...all);
    let high = this.data.max ?? this.o.max ?? Math.max(...all);
    if (!all.length) [low, high] = [this.o.min ?? 0, this.data.max ?? this.o.max ?? 1];
    if (this.o.max === undefined && all.length) high = Math.max(high, ...all);
    if (!(high > low)) [low, high] = [low - (Math.abs(low) || 1) * 0.1, low + (Math.abs(low) || 1) * 0.1];
    const unit = this.o.base ?? 1;
    const step = nice((high - low) / unit, 4) * unit;
    if (this.o.min === undefined) low = Math.floor(low / step) * step;
    return { low, high: this.o.max === undefined && this.data.max === undefined ? Math.ceil(high / step) * step : high, step };
  }

  draw() {
    this.width = this.plot.clientWidth;
    this.height = this.plot.clientHeight;
    const { xs, series } = this.data;
    if (!this.width || !this.height) return;
    attribute(this.svg, "viewBox", `0 0 ${this.width} ${this.height}`);
    const { low, high, step } = this.scale();
    const label = (v) => (this.o.tick ?? this.o.format)(v);
    const heights = [];
    for (let v = Math.ceil(low / step - 1e-9) * step + 0; v <= high + step * 1e-6; v += step) heights.push(v);
    this.left = this.lanes ? 4 : 14 + 6.3 * Math.max(3, ...heights.map((v) => label(v).length)); // 11 px letters
    say(this.scope, this.lanes ? "each row " + label(low) + " to " + label(high) : "");
    const right = this.width - edge.right;
    const bottom = this.height - edge.bottom;
    const first = xs[0] ?? 0;
    const last = xs[xs.length - 1] ?? 1;
    this.x = (v) => this.left + ((v - first) / (last - first || 1)) * (right - this.left);
    this.y = (v) => bottom - ((v - low) / (high - low)) * (bottom - edge.top);
    const parts = [];
    const text = (x, y, cls, label) => {
      const t = svg("text", { x, y, class: cls });
      t.textContent = label;
      parts.push(t);
    };
    for (const v of this.lanes ? [] : heights) {
      const y = this.y(v);
      parts.push(svg("line", { class: "grid", x1: this.left, x2: right, y1: y, y2: y }));
      text(this.left - 6, y + 3.5, "tick y", label(v));
    }
    this.drawTicks(first, last, bottom, right, parts, text);
    for (const m of this.data.marks ?? []) {
      if (m.x < first || m.x > last) continue;
      const x = this.x(m.x);
      parts.push(svg("line", { class: "mark " + m.cls, x1: x, x2: x, y1: edge.top, y2: bottom }));
    }
    for (const l of this.lanes ? [] : this.data.limits ?? []) {
      if (l.value < low || l.value > high) continue;
      const y = this.y(l.value);
      parts.push(svg("line", { class: "limit", x1: this.left, x2: right, y1: y, y2: y }));
      text(this.left + 5, y + (y > edge.top + 14 ? -4 : 12), "limit", l.name);
    }
    if (this.lanes) this.drawLanes(low, high, right, parts);
    for (const s of this.lanes ? [] : series) {
      const d = path(s.values, (i) => this.x(xs[i]), this.y);
      if (series.length === 1) parts.push(svg("path", { class: "area c" + s.color, d: area(s.values, (i) => this.x(xs[i]), this.y, bottom) }));
      const faded = this.axis.lit !== null && this.axis.lit !== s.name ? " faded" : "";
      parts.push(svg("path", { class: "line c" + s.color + faded, d }));
    }
    parts.push(this.line, this.when);
    this.svg.replaceChildren(...parts);
    this.drawCursor();
  }

  drawLanes(low, high, right, parts) {
    const { xs, series, high: hot } = this.data;
    const each = laneHeight(series.length);
    series.forEach((s, k) => {
      const floor = edge.top + each * (k + 1);
      const y = (v) => floor - (Math.min(1, Math.max(0, (v - low) / (high - low))) * (each - 4));
      const x = (i) => this.x(xs[i]);
      const faded = this.axis.lit !== null && this.axis.lit !== s.name ? " faded" : "";
      const cls = (s.values.some((v) => v >= hot) ? "high" : "c0") + faded;
      parts.push(svg("line", { class: "grid", x1: this.left, x2: right, y1: floor, y2: floor }));
      parts.push(svg("path", { class: "area " + cls, d: area(s.values, x, y, floor) }), svg("path", { class: "line " + cls, d: path(s.values, x, y) }));
    });
  }

  drawTicks(first, last, bottom, right, parts, text) {
    const n = Math.max(2, Math.floor((right - this.left) / 65));
    // Seconds, or a training's steps, which are whole numbers.
    const step = this.o.ticks ? this.o.ticks((last - first) / n) : Math.ceil(nice(last - first, n));
    const zone = this.o.ticks ? new Date(last * 1000).getTimezoneOffset() * 60 : 0;
    for (let v = Math.ceil((first - zone) / step) * step + zone; v <= last; v += step) {
      const x = this.x(v);
      parts.push(svg("line", { class: "tick", x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
      if (x > this.left + 12 && x < right - 16) text(x, bottom + 15, "tick", this.axis.label(v, step));
    }
  }

  drawCursor() {
    const { xs, series } = this.data;
    if (!this.x) return;
    const i = this.at();
    const show = this.axis.cursor !== null && xs.length;
    attribute(this.line, "visibility", show ? "visible" : "hidden");
    attribute(this.when, "visibility", show ? "visible" : "hidden");
    if (show) {
      const x = this.x(xs[i]);
      for (const [name, v] of [["x1", x], ["x2", x], ["y1", edge.top], ["y2", this.height - edge.bottom]]) attribute(this.line, name, v);
      const label = this.axis.label(xs[i]);
      const half = 3.4 * label.length; // 11 px letters
      attribute(this.when, "x", Math.min(this.width - half, Math.max(half, x)));
      attribute(this.when, "y", this.height - edge.bottom + 15);
      say(this.when, label);
    }
    sync(this.legend, series, (s) => s.name, (s) => this.entry(s), (node, s) => {
      const button = node.firstChild;
      button.className = "c" + s.color;
      say(button.lastChild, this.value(s, i));
      attribute(button, "aria-pressed", this.axis.lit === s.name);
    });
    const when = xs.length ? this.axis.label(xs[i]) : "no data";
    attribute(this.node, "aria-label", `${this.o.title}, ${when}: ${this.values(i)}. Arrow keys move along the axis.`);
  }

  entry(s) {
    const item = make("li");
    const button = make("button");
    button.type = "button";
    button.append(make("span", "name", s.name), " ", make("b"));
    button.addEventListener("click", () => this.axis.light(s.name));
    item.append(button);
    return item;
  }
}

// A line without axes, for a tile.
export function sparkline(node, values, max) {
  const n = values.length;
  const d = path(values, (i) => (n > 1 ? (i / (n - 1)) * 100 : 0), (v) => 23 - (v / (max || 1)) * 22);
  attribute(node.firstChild, "d", d);
}

export function sparklineNode() {
  const node = svg("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" });
  node.append(svg("path", { class: "line" }));
  return node;
}
