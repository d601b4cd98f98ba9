// The machines of --peers, each with its health, its GPUs and what is not well.

import { attribute, byId, make, number, percent, plural, say, sync } from "/dom.js";

const healths = ["critical", "warn", "unknown", "ok"];

function peer() {
  const li = make("li");
  const top = make("p", "top");
  top.append(make("a"), make("span", "badge"));
  li.append(top, make("p", "about"), make("ul", "minis"), make("ul", "why"));
  return li;
}

function mini() {
  const li = make("li");
  li.append(make("span"), make("div", "bar"), make("span"));
  li.children[1].append(make("i"));
  return li;
}

// What is not well first; advice is on the machine's own page.
export function drawPeers(list) {
  byId("machines").hidden = !list.length;
  sync(byId("peers"), list, (p) => p.address, peer, (li, p) => {
    const [link, badge] = li.firstChild.children;
    const health = healths.includes(p.health) ? p.health : "unknown";
    const gpus = p.gpus ?? [];
    li.className = health;
    attribute(link, "href", "http://" + p.address + "/");
    say(link, String(p.machine ?? p.address));
    say(badge, health);
    say(li.children[1], p.why ?? plural(gpus.length, "GPU", "GPUs") + (gpus[0]?.name ? " · " + gpus[0].name : "") + (p.driver ? " · driver " + p.driver : ""));
    sync(li.children[2], gpus, (g, i) => i, mini, (node, g) => {
      const use = typeof g.utilization === "number" ? g.utilization : null;
      const [name, bar, text] = node.children;
      say(name, String(g.index ?? "?"));
      bar.firstChild.style.width = Math.min(100, Math.max(0, use ?? 0)) + "%";
      bar.firstChild.className = g.lost ? "full" : "";
      say(text, g.lost ? "lost" : percent(use) + " · " + number(g.memory_used / 2 ** 30) + "/" + number(g.memory_total / 2 ** 30) + " GiB · " + number(g.temperature) + " °C");
    });
    sync(li.children[3], p.reasons ?? [], (r) => r.of + " " + r.cause, () => make("li"), (node, r) => {
      node.className = healths.includes(r.health) ? r.health : "unknown";
      say(node, r.of + ": " + r.cause);
      attribute(node, "title", r.advice);
    });
  });
}
