#!/usr/bin/env python3
"""bench/exact_quality.py [--steps N] [--seeds A,B,C] [--device cpu|cuda] [--json FILE]
[--svg FILE]: how a small GPT learns in float32 and by exact operations. Characters of this
project's own pages, AdamW. A seed has the same first weights and the same batches in each
form, and there is no dropout, so that two curves of a seed differ by arithmetic alone.
Prints the mean loss of the last 150 steps of each.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMS = {"float32": "#c05020", "exact": "#2060c0"}
LAST = 150


def train(form, seed, steps, device):
    import numpy as np
    import torch
    sys.path[:0] = [str(ROOT / "tests/torch_exact"), str(ROOT / "python")]
    from models import GPT
    if form == "exact":
        import lockstep.torch
        lockstep.torch.exact(strict=True, tell=False)
    pages = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "docs").glob("*.md")))
    letters = sorted(set(pages))
    text = np.array([letters.index(c) for c in pages])
    dice = np.random.default_rng(seed)
    model = GPT(words=len(letters), width=128, heads=4, layers=4, length=128, dropout=0.0)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.zero_()
            elif p.dim() > 1:
                p.copy_(torch.from_numpy(dice.normal(0, 0.02, tuple(p.shape)).astype(np.float32)))
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    losses = []
    for _ in range(steps):
        start = dice.integers(0, len(text) - 129, 32)
        rows = torch.from_numpy(np.stack([text[s:s + 129] for s in start])).to(device)
        loss = model.loss(rows[:, :-1], rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    json.dump([float(v) for v in torch.stack(losses).cpu()], sys.stdout)


def picture(curves, steps):
    """The mean of every fiftieth of the steps, a line a training."""
    wide, high, edge, part = 640, 320, 44, max(1, steps // 50)
    top = max(c[0] for c in curves.values())
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (wide, high),
           '<title>Loss of a small GPT in float32 and by exact operations</title>',
           '<rect width="%d" height="%d" fill="white"/>' % (wide, high)]
    for loss in range(0, int(top) + 1):
        y = high - edge - loss / top * (high - 2 * edge)
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%d</text>'
                   % (edge, wide - edge, y, y, edge - 6, y + 4, loss))
    for step in range(0, steps + 1, max(1, steps // 4)):
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (edge + step / steps * (wide - 2 * edge), high - edge + 18, step))
    for (form, _), losses in curves.items():
        points = [(i + part / 2, statistics.fmean(losses[i:i + part])) for i in range(0, steps - part + 1, part)]
        out.append('<polyline fill="none" stroke="%s" stroke-width="1.5" %s points="%s"/>' % (
            FORMS[form], 'stroke-dasharray="6 5"' if form == "exact" else "", " ".join(
                "%.1f,%.1f" % (edge + x / steps * (wide - 2 * edge), high - edge - y / top * (high - 2 * edge)) for x, y in points)))
    for n, (form, color) in enumerate(FORMS.items()):
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (wide - edge - 70, edge + 18 * n, color, form))
    out.append('<text x="%d" y="%d">loss</text><text x="%d" y="%d" text-anchor="end">step</text></svg>\n' % (edge, edge - 14, wide - edge, high - 8))
    return "\n".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--steps", type=int, default=2000)
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--device", default="cuda")
    p.add_argument("--json")
    p.add_argument("--svg")
    p.add_argument("--one", help=argparse.SUPPRESS)
    o = p.parse_args()
    if o.one:
        return train(o.one, int(o.seeds), o.steps, o.device)
    runs = {(form, int(seed)): subprocess.Popen(
        [sys.executable, __file__, "--one", form, "--seeds", seed, "--steps", str(o.steps), "--device", o.device],
        stdout=subprocess.PIPE) for seed in o.seeds.split(",") for form in FORMS}
    curves = {key: json.loads(run.communicate()[0]) for key, run in runs.items()}
    end = {key: statistics.fmean(losses[-LAST:]) for key, losses in curves.items()}
    for form in FORMS:
        of = [v for (f, _), v in end.items() if f == form]
        print("%-8s last %d losses: %s; mean %.4f, spread over seeds %.4f" % (
            form, LAST, " ".join("%.4f" % v for v in of), statistics.fmean(of), max(of) - min(of)))
    seeds = sorted({s for _, s in end})
    print("largest difference within a seed: %.4f" % max(abs(end["float32", s] - end["exact", s]) for s in seeds))
    if o.json:
        pathlib.Path(o.json).write_text(json.dumps({"%s %d" % key: losses for key, losses in curves.items()}))
    if o.svg:
        pathlib.Path(o.svg).write_text(picture(curves, o.steps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
