"""Drives a headless Chromium, by the few calls of the W3C WebDriver protocol that the page's tests need.

Both programs are Debian's (chromium, chromium-driver); https://www.w3.org/TR/webdriver2/ has the protocol. The browser
runs with an option that makes it resolve no host name. So a request of a page to anything but 127.0.0.1 fails, and is
in the log.
"""

import base64
import contextlib
import json
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

STARTS = 5  # of chromedriver, if it ends at once


class Browser:
    """One window. Use it as a context manager."""

    def __init__(self, width=1280, height=900, dark=False, scripting=True):
        self._folder = tempfile.mkdtemp(prefix="crema-browser-")
        self._address = f"http://127.0.0.1:{self._start()}"
        arguments = [
            "--headless=new",
            "--no-sandbox",  # containers have no user namespaces; the pages are our own
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--disable-background-networking",
            f"--window-size={width},{height}",
            f"--user-data-dir={self._folder}/profile",
        ]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        if not scripting:
            arguments.append("--blink-settings=scriptEnabled=false")
        options = {"binary": shutil.which("chromium"), "args": arguments, "perfLoggingPrefs": {"enableNetwork": True}}
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._session = f"/session/{session['sessionId']}"
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def _start(self):
        """Starts chromedriver, and returns its port. Another program may take a free port before chromedriver does."""
        said = []
        for _ in range(STARTS):
            self._driver = subprocess.Popen(
                ["chromedriver", "--port=0", f"--log-path={self._folder}/driver.log"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for line in self._driver.stdout:  # until it ends
                if "was started successfully on port" in line:
                    return int(line.rstrip(". \n").rpartition(" ")[2])
                said.append(line)
            self._driver.wait()
        raise RuntimeError(f"chromedriver ended {STARTS} times without a port: {''.join(said)}")

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self._address + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(RuntimeError, OSError):
            self._call("DELETE", self._session)
        self._driver.terminate()
        self._driver.wait()
        self._driver.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def open(self, path, fragment=""):
        """Opens a file and forgets what was logged before."""
        self.open_address(pathlib.Path(path).resolve().as_uri() + fragment)

    def open_address(self, address):
        self._call("POST", self._session + "/url", {"url": "about:blank"})
        self.console()
        self.requests()
        self.url = address
        self._call("POST", self._session + "/url", {"url": self.url})

    def run(self, script, *arguments):
        """Returns a script's value. The page's policy does not apply to the script, so test what the page did."""
        body = {"script": script, "args": list(arguments)}
        return self._call("POST", self._session + "/execute/sync", body)

    def run_async(self, script, *arguments):
        """Returns what a script passes to its last argument, a callback."""
        body = {"script": script, "args": list(arguments)}
        return self._call("POST", self._session + "/execute/async", body)

    def wait(self, script, seconds=60):
        """Waits until the script returns a true value, and returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.05)

    def keys(self, text):
        """Presses keys, one after another; the element with the focus gets them."""
        actions = []
        for key in text:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        body = {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}
        self._call("POST", self._session + "/actions", body)

    def pointer(self, *steps):
        """Moves, presses, releases: `("move", x, y)`, `("down",)`, `("up",)`; positions are of the window."""
        actions = []
        for step in steps:
            if step[0] == "move":
                actions.append({"type": "pointerMove", "duration": 20, "x": round(step[1]), "y": round(step[2])})
            else:
                actions.append({"type": "pointerDown" if step[0] == "down" else "pointerUp", "button": 0})
        body = {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]}
        self._call("POST", self._session + "/actions", body)

    def devtools(self, command, **parameters):
        body = {"cmd": command, "params": parameters}
        return self._call("POST", self._session + "/goog/cdp/execute", body)

    def console(self):
        """All messages of the console since the last call, with policy violations."""
        return [entry["message"] for entry in self._call("POST", self._session + "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that the browser requested since the last call."""
        addresses = []
        for entry in self._call("POST", self._session + "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        return addresses

    def screenshot(self, path, whole=True):
        options = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = self.devtools("Page.captureScreenshot", **options)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))
