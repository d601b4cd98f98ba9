// Elements and texts. Whatever comes from the machine becomes text and never markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, cls, text) {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function svg(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  return node;
}

// A node that does not change is not touched, so that a screen reader does not read it again.
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function attribute(node, name, value) {
  if (value === null || value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

// The children of parent become one an item, by key; those that stay keep focus and state.
export function sync(parent, items, key, create, update) {
  const times = new Map();
  const keys = items.map((item, i) => {
    const k = String(key(item, i));
    times.set(k, (times.get(k) ?? 0) + 1);
    return k + "#" + times.get(k);
  });
  const wanted = new Set(keys);
  const have = new Map();
  for (const child of [...parent.children])
    if (wanted.has(child.dataset.key)) have.set(child.dataset.key, child);
    else child.remove();
  let at = parent.firstElementChild;
  items.forEach((item, i) => {
    const node = have.get(keys[i]) ?? create(item, i);
    node.dataset.key = keys[i];
    update(node, item, i);
    if (node === at) at = at.nextElementSibling;
    else parent.insertBefore(node, at);
  });
}

// A bar and its share; without one it is not shown.
export function setBar(bar, share, high = 1.1, full = 1.1) {
  const shown = typeof share === "number" && Number.isFinite(share);
  bar.hidden = !shown;
  bar.firstChild.style.width = shown ? Math.min(1, Math.max(0, share)) * 100 + "%" : "0";
  bar.firstChild.className = share >= full ? "full" : share >= high ? "high" : "";
}

const known = (v) => typeof v === "number" && Number.isFinite(v);

export function number(v, digits = 0) {
  return known(v) ? v.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits }) : "–";
}

export const plural = (n, one, many) => n + " " + (n === 1 ? one : many);

export const percent = (v) => (known(v) ? number(v) + " %" : "–");

export const gib = (v) => (known(v) ? number(v / 2 ** 30, v < 100 * 2 ** 30 ? 1 : 0) + " GiB" : "–");

// Bytes a second.
export function speed(v) {
  if (!known(v)) return "–";
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (v >= size) return number(v / size, v < 10 * size ? 1 : 0) + " " + unit + "/s";
  return number(v) + " B/s";
}

// A value of a metric, with as many digits as say something.
export function figure(v) {
  if (!known(v)) return v === undefined || v === null ? "–" : String(v);
  const size = Math.abs(v);
  if (v !== 0 && (size < 1e-3 || size >= 1e6)) return v.toExponential(3);
  return v.toLocaleString("en", { maximumSignificantDigits: 5 });
}

const two = (n) => String(n).padStart(2, "0");

export function clock(time, seconds = true) {
  const d = new Date(time * 1000);
  return two(d.getHours()) + ":" + two(d.getMinutes()) + (seconds ? ":" + two(d.getSeconds()) : "");
}

export function day(time) {
  return new Date(time * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

// "12:03", and the day where that is not today.
export function moment(time, now) {
  return day(time) === day(now) ? clock(time) : day(time) + " " + clock(time, false);
}

export function span(s) {
  if (!known(s) || s < 0) return "–";
  if (s < 60) return Math.floor(s) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 2 * 86400) return Math.floor(s / 3600) + " h " + two(Math.floor(s / 60) % 60) + " min";
  return Math.floor(s / 86400) + " days";
}
