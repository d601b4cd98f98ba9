"""A real Chromium for tests, driven through a pipe by its DevTools protocol.

    with Browser() as b:
        page = b.open("http://127.0.0.1:9495/")
        page.until("document.title != ''")

What a page reports as an error is in page.errors.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds; a machine may be busy


def available():
    return shutil.which("chromium")


class Page:
    def __init__(self, browser, session):
        self.browser, self.session, self.errors = browser, session, []

    def call(self, method, **params):
        return self.browser.call(method, params, self.session)

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression):
        end = time.monotonic() + PATIENCE
        # what is not there yet is not true yet
        attempt = "(() => { try { return " + expression + " } catch { return null } })()"
        while not (value := self.js(attempt)):
            if time.monotonic() > end:
                raise AssertionError(f"never so: {expression}")
            time.sleep(0.1)
        return value

    def size(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode={"Tab": 9, "ArrowLeft": 37}.get(name, 0))

    def click(self, selector):
        at = self.js(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: "center"}});
            const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def click_until(self, selector, expression):
        """What moves while the page goes on may not be where it was."""
        end = time.monotonic() + PATIENCE
        while True:
            self.click(selector)
            if self.js(expression):
                return
            if time.monotonic() > end:
                raise AssertionError(f"never so: {expression}")
            time.sleep(0.1)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def heard(self, method, params):
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(params["args"])[:600])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(json.dumps(params["entry"])[:600])


class Browser:
    def __enter__(self):
        self.home = tempfile.mkdtemp()
        to_child, self.to = os.pipe()
        self.read, from_child = os.pipe()
        self.child = subprocess.Popen(
            ["bash", "-c", f'exec 3<&{to_child} 4>&{from_child}; exec chromium "$@"', "bash", "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--no-proxy-server", f"--user-data-dir={self.home}", "--remote-debugging-pipe"],
            pass_fds=(to_child, from_child), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.home})
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.pages = b"", 0, {}
        return self

    def __exit__(self, *unused):
        self.child.terminate()
        self.child.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, params=None, session=None):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].heard(answer["method"], answer["params"])

    def next(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], PATIENCE)[0]:
                raise AssertionError("the browser says nothing")
            part = os.read(self.read, 1 << 20)
            if not part:
                raise AssertionError(f"the browser has ended: {self.child.wait()}")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def open(self, address):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            page.call(domain + ".enable")
        page.call("Page.navigate", url=address)
        return page
