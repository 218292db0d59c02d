"""A real manager of TaskVine and its workers, on Debian 13: compares crema's figures with what the manager counts and
logs."""

import json
import subprocess
import unittest

import debian_13

PROGRAM = debian_13.CHECKOUT / "bazel-bin/collector/cli/crema"
RUN = """
install_packages coop-computing-tools coop-computing-tools-dev gcc libc6-dev libssl-dev zlib1g-dev
gcc -Wall -Wextra -Werror /crema/examples/taskvine/manager.c -o manager -ltaskvine -ldttools -lssl -lcrypto -lm -lz
mkdir records
export CREMA_DIR=$PWD/records HOLD=$PWD/go
./manager ./analysis >manager.json & manager=$!
wait_for test -s manager.json
port=$(head -n 1 manager.json)
resources="--single-shot --cores 4 --memory 400 --disk 400"
vine_worker $resources 127.0.0.1 $port >first.log 2>&1 & first=$!
two_are_open() { [ "$(cat records/*.jsonl 2>/dev/null | grep -c '"type":"begin"')" = 2 ]; }
wait_for two_are_open
kill_tree() {  # orphans would go on with tasks that the manager gave to somebody else
  children=$(cat /proc/$1/task/$1/children)
  kill -9 $1
  for child in $children; do kill_tree $child; done
}
kill_tree $first
touch go
vine_worker $resources 127.0.0.1 $port >second.log 2>&1 &
wait $manager
"""


class TaskVineTest(debian_13.Debian13Case):
    script = RUN

    def setUp(self):
        super().setUp()
        _, *lines = (self.ran / "manager.json").read_text().splitlines()
        *self.tasks, self.counted = map(json.loads, lines)

    def collect(self):
        collect = [
            PROGRAM,
            "collect",
            self.ran / "records",
            self.ran / "vine-run-info",
            "-o",
            self.folder / "run",
            "-q",
        ]
        done = subprocess.run(collect, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "run/measurement.json").read_text())

    def logged(self):
        """The lines of the manager's log, and the counts in its last row of `performance`."""
        (logs,) = (self.ran / "vine-run-info").glob("2*/vine-logs")
        lines = (logs / "transactions").read_text().splitlines()
        header, *rows = (logs / "performance").read_text().splitlines()
        counts = dict(zip(header.lstrip("# ").split(), rows[-1].split(), strict=False))
        return [line for line in lines if not line.startswith("#")], counts

    def test_workers_tasks_times_and_joins_are_the_managers(self):
        counted, (lines, performance) = self.counted, self.logged()
        self.assertEqual((counted["done"], counted["failed"], counted["joined"]), (8, 0, 2))
        document = self.collect()
        metrics, quality = document["metrics"], document["quality"]
        self.assertEqual(document["run"]["engine"], "TaskVine")
        self.assertEqual((metrics["num_chunks"], metrics["total_events"], metrics["num_lost_attempts"]), (8, 800, 2))
        self.assertEqual(metrics["task_join_coverage"], 1.0)
        self.assertEqual(quality["tasks_read"], counted["dispatched"])
        self.assertEqual(quality["tasks_read"], int(performance["tasks_dispatched"]))
        self.assertEqual(quality["tasks_without_chunk"], counted["dispatched"] - int(performance["tasks_done"]))

        workers = document["workers"]
        self.assertEqual([worker["cores"] for worker in workers], [4] * counted["joined"])
        self.assertEqual(sorted(worker["chunks"] or 0 for worker in workers), [0, 8])
        (lost,) = [worker for worker in workers if worker["state"] == "lost"]
        self.assertEqual((lost["lost"], lost["left_reason"]), (2, "FAILURE"))
        life = {}  # of each worker, in the manager's seconds
        for words in map(str.split, lines):
            if words[2] == "WORKER" and words[4] in ("CONNECTION", "DISCONNECTION"):
                life.setdefault(words[3], []).append(int(words[0]) / 1e6)
        self.assertEqual(life.keys(), {worker["name"] for worker in workers})
        for worker in workers:
            joined, left = life[worker["name"]]
            self.assertAlmostEqual(worker["stop"] - worker["start"], left - joined, delta=1e-3)
        core_seconds = sum(4 * (left - joined) for joined, left in life.values())
        self.assertAlmostEqual(metrics["core_seconds"], core_seconds, delta=1e-2)

        seconds = {}  # of each task that came back, on its worker
        for line in lines:
            if " RETRIEVED " in line:
                measured = json.loads(line[line.rindex(" {") + 1 :])
                seconds[int(line.split()[3])] = measured["time_worker_end"][0] - measured["time_worker_start"][0]
        self.assertEqual(seconds.keys(), {task["task"] for task in self.tasks})
        for task in self.tasks:  # the manager's own figure is at most what it saw itself
            self.assertLessEqual(task["microseconds"] / 1e6, seconds[task["task"]] + 1e-5)
        by_manager = sum(seconds.values())
        # outside_chunk_share is of the time of tasks with chunks
        self.assertAlmostEqual(metrics["outside_chunk_time"] / metrics["outside_chunk_share"], by_manager, delta=1e-3)
        self.assertEqual(metrics["task_cores_avg"], 2)
        parts = {row["part"]: row["core_seconds"] for row in document["budget"]}
        self.assertGreaterEqual(parts["unused_by_tasks"], by_manager, "each used one of its two cores")
        self.assertAlmostEqual(sum(parts.values()), metrics["core_seconds"], delta=1e-6)
        verdicts = {verdict["id"]: verdict for verdict in document["verdicts"]}
        self.assertIn("the engine says FAILURE", verdicts["worker-loss"]["sentence"])
        self.assertIn("unused-cores", verdicts)
        self.assertEqual([line for line in quality["warnings"] if "was lost" not in line], [])


if __name__ == "__main__":
    unittest.main()
