"""check_html.py FILE: the page is well-formed, loads nothing and runs nothing; prints its
visible text."""
import html.parser
import sys


class Page(html.parser.HTMLParser):
    VOID = {"meta", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.text, self.faults = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "link", "img", "iframe", "object"):
            self.faults.append(f"<{tag}>")
        self.faults += [f"{k}={v}" for k, v in attrs if k in ("src", "href") or k.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if data.strip() and "style" not in self.open:
            self.text.append(data.strip())


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
print(" | ".join(page.text))
if page.faults or page.open:
    sys.exit(f"{page.faults} {page.open}")
