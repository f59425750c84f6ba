# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Chromium without a screen, by its DevTools protocol (https://chromedevtools.github.io/devtools-protocol)."""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import websocket  # Debian's python3-websocket

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def program():
    """The browser, or None where none is installed."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return None


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [program(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        port, path = self._address()
        self.events = []
        self.number = 0
        self.socket = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=60)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(domain + ".enable")

    def _address(self):
        file = pathlib.Path(self.folder.name) / "DevToolsActivePort"
        for _ in range(600):
            if file.exists() and len(lines := file.read_text().split()) == 2:
                return lines
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"{program()} did not start")

    def _call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def close(self):
        self.socket.close()
        os.killpg(self.process.pid, signal.SIGKILL)  # Debian's program is a script that waits for another
        self.process.wait()
        self.folder.cleanup()

    def resize(self, width, height):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """Loads a page anew, and waits until it says that it is drawn."""
        self._call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self._call("Page.navigate", url=url)
        self.wait("document.documentElement?.dataset.drawn")

    def run(self, script):
        """The value of a script's last expression."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, seconds=30):
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({script})"):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.02)

    def click(self, selector):
        """With the mouse, where the first such element is, as soon as it stays there."""
        self._settle()
        x, y = self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: "center"}});
          const b = e.getClientRects()[0]; return [b.left + b.width / 2, b.top + b.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key], **text)

    def choose(self, name, value):
        """An option of the select of this name, as its user would."""
        self.run(f"""(() => {{ const s = document.querySelector('select[name="{name}"]'); s.value = {json.dumps(value)};
          if (s.value !== {json.dumps(value)}) throw new Error("no such option"); s.dispatchEvent(new Event("change", {{bubbles: true}})); }})()""")
        self._settle()

    def _settle(self):
        """No drawing for two frames and a little: what was chosen is shown."""
        before, now = None, self.run("document.documentElement.dataset.draws")
        while before != now:
            self.run("new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 150))")
            before, now = now, self.run("document.documentElement.dataset.draws")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.innerText.trim())")

    def count(self, selector):
        return self.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def picture(self, path, height=None):
        if height:
            width = self.run("innerWidth")
            self.resize(width, min(height, self.run("document.documentElement.scrollHeight")))
            self.run("new Promise((done) => setTimeout(done, 300))")
        data = self._call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def complaints(self):
        """What the console was told, exceptions, and requests for anything but the page."""
        said = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                said.append(json.dumps(what)[:400])
            elif method == "Network.requestWillBeSent" and what["request"]["url"].split(":")[0] not in ("file", "data", "about"):
                said.append("asked for " + what["request"]["url"])
        self.events.clear()
        return said
