#!/usr/bin/env python3
"""tests/python/pages.py PAGE...: runs the blocks marked `python` of pages and of notebooks, each
page's in one namespace and one empty folder, as a reader would. A comment `# ValueError: text`
at the end of a block's last line says what it must raise; after `# prints` comes what it must
print, exactly."""
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import traceback
import warnings


def blocks(path):
    """(line, code)"""
    text = path.read_text()
    if path.suffix == ".ipynb":
        cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
        return [("cell %d" % (i + 1), "".join(c["source"])) for i, c in enumerate(cells)]
    found = []
    for m in re.finditer(r"^```python\n(.*?)^```", text, re.S | re.M):
        found.append(("line %d" % (text[:m.start()].count("\n") + 2), m[1]))
    return found


def run(code, names):
    """What is wrong, or None."""
    last = code.rstrip().splitlines()[-1]
    raises = re.search(r"#\s+(\w+(?:Error|Interrupt)): (.*)$", last)
    prints = re.findall(r"#\s+prints (.*)$", code, re.M)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(code, "<block>", "exec"), names)
    except Exception as fault:
        if raises and raises[1] in [c.__name__ for c in type(fault).__mro__] and raises[2] in str(fault):
            return None
        return traceback.format_exc()
    if raises:
        return "did not raise %s" % raises[1]
    if prints and prints != said.getvalue().splitlines():
        return "printed %r, not %r" % (said.getvalue().splitlines(), prints)
    return None


def main(pages):
    bad = done = 0
    for page in map(pathlib.Path, pages):
        names, start = {"__name__": "__main__"}, os.getcwd()
        page = page.resolve()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for where, code in blocks(page):
                done += 1
                fault = run(code, names)
                if fault:
                    bad += 1
                    print("%s, %s:\n%s" % (page.name, where, fault))
                    break
            os.chdir(start)
    print("%d blocks of %d pages" % (done, len(pages)))
    return 1 if bad or not done else 0


if __name__ == "__main__":
    warnings.simplefilter("error", UserWarning)
    sys.exit(main(sys.argv[1:]))
