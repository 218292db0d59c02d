"""Opens exports and the live server with the tools that they are for: Prometheus and its promtool, and the roastcoffea
package.

Run by tools/test, outside Bazel: tools/setup puts both tools into .cache/test of the checkout.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT))

from collector.cli import invented_run  # noqa: E402  (found through the line before)

CREMA = CHECKOUT / "bazel-bin/collector/cli/crema"
TOOLS = CHECKOUT / ".cache/test"


class RealTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//collector/cli:crema"]
        subprocess.run(command, cwd=CHECKOUT, check=True)

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def export(self, format_name):
        records = invented_run.write_run(os.path.join(self.directory, "records"))
        path = os.path.join(self.directory, format_name)
        command = [CREMA, "export", records, "--to", format_name, "-o", path]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def test_promtool_has_nothing_to_say_of_the_prometheus_export(self):
        with open(self.export("prometheus"), encoding="utf-8") as file:
            command = [TOOLS / "promtool", "check", "metrics"]
            result = subprocess.run(command, stdin=file, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def serve(self):
        """Starts `crema serve` on a finished run, with its token in a file. Yields its address as `host:port`."""
        records = invented_run.write_run(os.path.join(self.directory, "records"))
        self.token_file = os.path.join(self.directory, "token")
        command = [CREMA, "serve", "--quiet", records, "--token-file", self.token_file]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdout.close)
        return server.stdout.readline().strip().removeprefix("http://").rstrip("/")

    def fetch(self, url):
        token = pathlib.Path(self.token_file).read_text(encoding="utf-8").strip()
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def fetch_until(self, url, has_come):
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                text = self.fetch(url)
            except OSError:  # not there yet
                text = ""
            if has_come(text):
                return text
            time.sleep(0.2)
        raise self.failureException(f"{url} did not answer as expected; at last: {text}")

    def test_promtool_has_nothing_to_say_of_a_live_run(self):
        address = self.serve()
        text = self.fetch_until(f"http://{address}/metrics", lambda text: "crema_dataset_chunks" in text)
        command = [TOOLS / "promtool", "check", "metrics"]
        result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_prometheus_scrapes_a_live_run_and_answers_a_query(self):
        address = self.serve()
        chunks = json.loads(
            self.fetch_until(f"http://{address}/api/v1/metrics", lambda text: '"num_chunks": 0' not in text and text)
        )["num_chunks"]
        with socket.socket() as probe:  # Prometheus takes no port 0
            probe.bind(("127.0.0.1", 0))
            own = f"127.0.0.1:{probe.getsockname()[1]}"
        config = os.path.join(self.directory, "prometheus.yml")
        pathlib.Path(config).write_text(
            "global: {scrape_interval: 1s}\n"
            "scrape_configs: [{job_name: crema, "
            f"authorization: {{credentials_file: {self.token_file}}}, "
            f"static_configs: [{{targets: ['{address}']}}]}}]\n",
            encoding="utf-8",
        )
        prometheus = subprocess.Popen(
            [
                TOOLS / "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={self.directory}/data",
                f"--web.listen-address={own}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.terminate)
        query = f"http://{own}/api/v1/query?query=crema_num_chunks"
        answer = json.loads(self.fetch_until(query, lambda text: '"value"' in text))
        self.assertEqual(answer["data"]["result"][0]["value"][1], str(chunks))
        # each query of the dashboard finds something, or is about a figure that this run does not have
        dashboard = json.loads((CHECKOUT / "docs/grafana_dashboard.json").read_text(encoding="utf-8"))
        missing = []
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                expression = urllib.parse.quote(target["expr"].replace("$instance", ".*"))
                found = json.loads(self.fetch(f"http://{own}/api/v1/query?query={expression}"))
                self.assertEqual(found["status"], "success", target)
                if not found["data"]["result"]:
                    missing.append(panel["title"])
        # a finished run has no total and no time left; rates need more than one scrape
        self.assertLessEqual(set(missing), {"Progress", "Time left", "Event rate by worker", "Cores"})

    def test_roastcoffea_opens_its_directory(self):
        python = TOOLS / "roastcoffea/bin/python"
        if not os.access(python, os.X_OK):
            self.skipTest("tools/setup found no Python >= 3.12 for roastcoffea; PYTHON=/path/to/python3.13 names one")
        directory = self.export("roastcoffea")
        script = pathlib.Path(__file__).parent / "opened_by_roastcoffea.py"
        result = subprocess.run(
            [python, script, directory],
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": self.directory, "MPLCONFIGDIR": self.directory},
            timeout=300,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        self.assertEqual(result.stdout, "opened 21 1.85\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
