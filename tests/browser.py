"""Drives a headless Chromium through the DevTools protocol over a pipe (file descriptors 3 and 4 of the browser). Only
what the tests of the HTML report need; python3's standard library only."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

AXE = os.environ.get("HEDDLE_AXE")  # axe.min.js of axe-core, which is not part of heddle
VIOLATIONS = """axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => [v.id, v.nodes.length,
  v.nodes[0].html.slice(0, 200)]))"""
NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]


def find():
    """The browser's path, or None. CHROMIUM names another one."""
    for name in [os.environ.get("CHROMIUM")] + NAMES:
        path = name and shutil.which(name)
        if path:
            return path
    return None


def judge(b, case, name):
    """What axe-core finds in the page that is open; nothing without HEDDLE_AXE."""
    if not AXE:
        return
    with open(AXE, encoding="utf-8") as file:
        b.evaluate(file.read() + ";0")
    found = b.evaluate(VIOLATIONS)
    case(name + ": axe-core finds nothing", found == [], found)


class Browser:
    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="heddle-browser-")
        to_read, self.to_browser = os.pipe()
        self.from_browser, to_write = os.pipe()

        def pipes():
            # Above 4 first, so that neither is written over by the other.
            high = os.dup(to_read), os.dup(to_write)
            spare = [os.dup(fd) for fd in high]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--force-color-profile=srgb", "--lang=en",
             "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pipes,
            pass_fds=(3, 4, to_read, to_write), start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        try:
            self.attach()
        except (OSError, RuntimeError):
            self.close()
            raise

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        if AXE:
            self.call("Page.setBypassCSP", enabled=True)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, seconds):
        """The next message, or None after so many seconds."""
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.from_browser], [], [], max(0, end - time.monotonic()))[0]:
                return None
            part = os.read(self.from_browser, 1 << 20)
            if not part:
                raise RuntimeError("the browser went away")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        while True:
            answer = self.receive(60)
            if answer is None:
                raise RuntimeError("the browser does not answer " + method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Loads a page and waits for its scripts."""
        self.load("about:blank")  # so that another part of the same page is loaded again
        self.load(url)
        self.settle()

    def load(self, url):
        self.events = []
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if any(e.get("method") == "Page.loadEventFired" for e in self.events):
                return
            event = self.receive(5)
            if event:
                self.events.append(event)
        raise RuntimeError("the page does not load")

    def settle(self):
        """Two frames and a little more, in which what a page does late is done."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
                      "() => setTimeout(done, 120))))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("%s: %s" % (expression, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def complaints(self):
        """Errors and warnings of the page since it was opened."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(parameters["exceptionDetails"])[:600])
            if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(parameters["args"])[:600])
            if method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
        return found

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, value):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def click(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def click_on(self, expression):
        """Clicks the middle of an element."""
        box = self.evaluate("(() => { const e = %s; e.scrollIntoView({block: 'center'});"
                            " const b = e.getBoundingClientRect(); return [b.left + Math.min(b.width, 200) / 2, b.top + b.height / 2]; })()" % expression)
        self.click(*box)

    def press(self, key):
        text = key if len(key) == 1 else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)
        self.settle()

    def screenshot(self, path, full=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))
