"""A real pool of HTCondor on Debian 13: compares jobs that succeed, are held and are killed with what HTCondor
reports."""

import json
import subprocess
import unittest

import debian_13

PROGRAM = debian_13.CHECKOUT / "bazel-bin/collector/cli/crema"
SETTINGS = """CONDOR_HOST = 127.0.0.1
NETWORK_INTERFACE = 127.0.0.1
DAEMON_LIST = MASTER COLLECTOR NEGOTIATOR SCHEDD STARTD
NUM_CPUS = 4
MEMORY = 2000
START = True
RUNBENCHMARKS = False
ENABLE_IPV6 = False
BASE_CGROUP =
MOUNT_UNDER_SCRATCH =
MOUNT_PRIVATE_DEV_SHM = False
DISCARD_SESSION_KEYRING_ON_STARTUP = False
use security:host_based
ALLOW_READ = *
ALLOW_WRITE = *
ALLOW_DAEMON = *
ALLOW_ADMINISTRATOR = *
NEGOTIATOR_INTERVAL = 2
NEGOTIATOR_CYCLE_DELAY = 1
SCHEDD_INTERVAL = 2
UPDATE_INTERVAL = 2
"""
# 1.0 succeeds, 1.1 is held while it computes; 2.0 is killed, 2.1 ends with an error
JOBS = """universe = vanilla
log = jobs.log
request_memory = 100
environment = "CREMA_DIR=/var/tmp/crema/records"
executable = /var/tmp/crema/analysis
request_cpus = 2
arguments = 1
queue
request_cpus = 1
environment = "CREMA_DIR=/var/tmp/crema/records HOLD=/var/tmp/crema/never"
arguments = 2
queue
executable = /var/tmp/crema/ended
arguments = killed
queue
arguments = failed
queue
"""
RUN = f"""
install_packages htcondor
grep -q "$(hostname)" /etc/hosts || echo "127.0.0.1 localhost $(hostname)" >>/etc/hosts
id ana >/dev/null 2>&1 || useradd --create-home ana
rm -rf "$(condor_config_val SPOOL)"/*  # numbers of jobs begin at 1
mkdir -p /run/condor /run/lock/condor
chown condor:condor /run/condor /run/lock/condor
cat >/etc/condor/config.d/99-crema.conf <<'END'
{SETTINGS}END
cat >jobs.sub <<'END'
{JOBS}END
printf '#!/bin/sh\n[ "$1" = failed ] && exit 3\nkill -9 $$\n' >ended && chmod 755 ended
mkdir records && chown -R ana . && chmod 755 .
condor_master -f >master.log 2>&1 &
as_ana() {{ setpriv --reuid=ana --regid=ana --init-groups env HOME=/home/ana "$@"; }}
is_up() {{ condor_status -af Name 2>/dev/null | grep -q .; }}
wait_for is_up
submit() {{ as_ana condor_submit jobs.sub; }}
wait_for submit
begun() {{ [ "$(cat records/*.jsonl 2>/dev/null | grep -c '"type":"begin"')" = 2 ]; }}
wait_for begun
as_ana condor_hold 1.1
over() {{
  for event in "005 (001.000" "012 (001.001" "005 (002.000" "005 (002.001"; do
    grep -qF "$event" jobs.log || return 1
  done
}}
wait_for over
left_queue() {{ [ "$(as_ana condor_history -af ProcId | wc -l)" = 3 ]; }}
wait_for left_queue
as_ana condor_history -json >history.json
as_ana condor_q -json >queue.json
condor_off -master -fast >/dev/null 2>&1 || true
"""


class HTCondorTest(debian_13.Debian13Case):
    script = RUN

    def test_executions_their_ends_and_joins_are_htcondors(self):
        jobs = {}
        for name in ("history.json", "queue.json"):
            for job in json.loads((self.ran / name).read_text()):
                jobs[f"job {job['ClusterId']}.{job['ProcId']}"] = job
        self.assertEqual(len(jobs), 4)
        command = [PROGRAM, "collect", self.ran / "records", self.ran / "jobs.log", "-o", self.folder / "run", "-q"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "run/measurement.json").read_text())
        metrics, workers = document["metrics"], {worker["name"]: worker for worker in document["workers"]}
        self.assertEqual(document["run"]["engine"], "HTCondor")
        self.assertEqual((metrics["num_chunks"], metrics["num_lost_attempts"]), (1, 1))
        self.assertEqual(metrics["task_join_coverage"], 1.0)
        self.assertEqual(document["quality"]["tasks_read"], sum(job["NumJobStarts"] for job in jobs.values()))
        self.assertEqual({"job 1.0", "job 1.1", "job 2.0", "job 2.1"}, jobs.keys())
        succeeded, held, killed = (workers[name] for name in ("job 1.0", "job 1.1", "job 2.0"))
        self.assertEqual((succeeded["state"], succeeded["left_reason"]), ("ended", "terminated, exit code 0"))
        self.assertEqual((succeeded["chunks"], succeeded["cores"]), (1, jobs["job 1.0"]["RequestCpus"]))
        self.assertEqual((held["state"], held["lost"]), ("ended", 1), "its user held it, which lost its chunk")
        self.assertIn("held", held["left_reason"])
        self.assertIn(jobs["job 1.1"]["HoldReason"], held["left_reason"])
        self.assertEqual((killed["state"], killed["left_reason"]), ("lost", "terminated, signal 9"))
        failed = workers["job 2.1"]
        self.assertEqual((failed["state"], failed["left_reason"]), ("ended", "terminated, exit code 3"))
        for name, job in jobs.items():
            if name in workers and "CompletionDate" in job and job["CompletionDate"] > 0:
                seconds = job["CompletionDate"] - job["JobCurrentStartDate"]
                self.assertAlmostEqual(workers[name]["stop"] - workers[name]["start"], seconds, delta=2)
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "worker-loss"]
        self.assertIn("signal 9", verdict["sentence"])
        # One was killed by a signal, one ended with code 3, both before any guard. The job on hold did not fail.
        self.assertEqual((metrics["num_tasks"], metrics["num_failed_tasks"]), (len(jobs) - 1, 2))
        self.assertEqual(metrics["num_failed_tasks_without_chunk"], 2)
        (verdict,) = [verdict for verdict in document["verdicts"] if verdict["id"] == "failing-tasks"]
        self.assertIn("2 of 3 tasks failed", verdict["sentence"])
        self.assertIn("2 of 3 tasks failed without a recorded chunk", document["headline"])


if __name__ == "__main__":
    unittest.main()
