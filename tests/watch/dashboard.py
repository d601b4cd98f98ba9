"""tests/watch/dashboard.py ADDRESS FOLDER: what a person does with the dashboard.

In a real browser. The monitor at ADDRESS has what tests/cli/cases/monitor/dashboard.sh
made. Pictures at three sizes, light and dark, go to FOLDER.
"""
import json
import os
import sys

from browser import Browser

HOSTILE = '<img src=x onerror="window.hacked=1">'

# Text that is hard to read against what is behind it: less than 4.5 to 1.
PALE = """(() => {
  const rgb = (c) => (c.match(/[\\d.]+/g) ?? []).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest(".unseen,noscript,.skip,option")) continue;
    const ink = rgb(getComputedStyle(e)[e.namespaceURI.endsWith("svg") ? "fill" : "color"]).slice(0, 3);
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(e.className + " " + e.textContent.slice(0, 30) + " " + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return bad; })()"""


def equal(got, want):
    if got != want:
        raise AssertionError(f"{got!r} is not {want!r}")


def text(page, selector):
    return page.js(f"document.querySelector({json.dumps(selector)}).textContent")


def shows_the_machine(page):
    equal(page.js("document.querySelectorAll('#gpus > li').length"), 6)
    page.until("document.querySelector('#reasons .critical .advice')?.textContent.length > 20")
    assert "recovery" in text(page, "#reasons .critical"), text(page, "#reasons")
    assert text(page, "#health").startswith("Critical"), text(page, "#health")
    assert "93 %" in text(page, "#gpus li"), text(page, "#gpus li")
    page.until("document.querySelectorAll('#charts .lanes path.line').length === 36")
    page.until("/The monitor|monitor began|start/i.test(document.querySelector('#events').textContent)")
    page.until("document.querySelectorAll('#experiments tbody tr').length === 3")
    equal(page.js("[...document.querySelectorAll('#counts dt')].map((e) => e.textContent).includes('done')"), True)
    page.until("document.querySelectorAll('#experiments path.line').length > 0")
    page.until("/1,016 a second.*100 % of its best/.test(document.querySelector('#trainings').textContent)")
    assert "1 failed" in text(page, "#exports"), text(page, "#exports")


def hostile_text_is_text(page):
    assert HOSTILE in text(page, "#processes"), text(page, "#processes")
    assert HOSTILE in text(page, "#experiments"), text(page, "#experiments")
    equal(page.js("window.hacked === undefined && document.querySelectorAll('main img, main script').length"), 0)


def begins_with_a_way_to_the_content(page):
    page.key("Tab")
    equal(page.js("document.activeElement.className"), "skip")


def goes_on_without_reloading(page):
    page.js("document.querySelector('#charts .chart').focus(), window.same = document.querySelector('#gpus li')")
    before = page.js("document.querySelector('#live').textContent")
    page.until(f"document.querySelector('#live').textContent !== {json.dumps(before)}")
    equal(page.js("window.same === document.querySelector('#gpus li')"), True)
    equal(page.js("document.activeElement === document.querySelector('#charts .chart')"), True)
    page.key("ArrowLeft")
    page.until("/Utilization.*GPU 0/.test(document.querySelector('#readout').textContent)")


def answers_clicks(page):
    page.click("#ranges label:nth-of-type(2)")
    equal(page.js("document.querySelector('#ranges input:checked').value"), "3600")
    page.click("#checks summary")
    page.until("document.querySelectorAll('#all tr').length > 20")
    page.click("#checks summary")
    page.click("#charts .legend button")
    page.until("document.querySelectorAll('#charts path.line.faded').length === 30")
    page.click("#charts .legend button")
    page.click_until("#marks button", "document.querySelector('#charts text.when').getAttribute('visibility') === 'visible'")
    page.click("#experiments tbody input")
    page.until("document.querySelectorAll('#experiments path.line').length === 1")
    page.click("#experiments tbody input")
    page.js("document.activeElement.blur()")


def everything_has_a_name(page):
    for node in page.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in ("button", "checkbox", "radio", "combobox", "searchbox", "link", "figure", "img", "region"):
            assert node.get("name", {}).get("value"), node


def fits(page, folder):
    for width, height in ((390, 844), (1280, 800), (1920, 1080)):
        for dark in (False, True):
            page.size(width, height, dark)
            page.until(f"innerWidth === {width} && document.querySelector('#charts svg').getAttribute('viewBox') ==="
                       " `0 0 ${document.querySelector('#charts .plot').clientWidth} ${document.querySelector('#charts .plot').clientHeight}`")
            equal(page.js("document.scrollingElement.scrollWidth"), width)
            equal(page.js(PALE), [])
            page.size(width, page.js("document.documentElement.scrollHeight"), dark)
            page.picture(os.path.join(folder, f"monitor-{width}-{'dark' if dark else 'light'}.png"))


def main():
    address, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    with Browser() as browser:
        page = browser.open(f"http://{address}/")
        page.until("document.documentElement.dataset.drawn")
        for step in (begins_with_a_way_to_the_content, shows_the_machine, hostile_text_is_text, goes_on_without_reloading, answers_clicks, everything_has_a_name):
            step(page)
            print(step.__name__.replace("_", " "))
        fits(page, folder)
        print("fits three sizes, light and dark")
        equal(page.errors, [])
        print("no error in the console")


main()
