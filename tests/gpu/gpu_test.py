"""The known work of a GPU, by chunk, section and dataset, or null with a reason. The GPU is a stand-in."""

import collections
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

KNOWN = pathlib.Path("tests/gpu/known_gpu").absolute()
STAND_INS = pathlib.Path("tests/gpu").absolute()
LIBRARY = pathlib.Path("sdk/gpu/libcrema_gpu.so").absolute()
CREMA = pathlib.Path("collector/cli/crema").absolute()
FORMAT = pathlib.Path("docs/record_log.md")
MILLISECOND = 1_000_000
COUNTS = ("launches", "kernel_ns", "copies", "copy_ns", "to_device_bytes", "from_device_bytes", "on_device_bytes")
# What each chunk of known_gpu has, by section.
OF_CHUNK = {
    "upload": (0, 0, 1, MILLISECOND, 2000000, 0, 0),
    "infer": (5, 7 * MILLISECOND, 0, 0, 0, 0, 0),
    "download": (0, 0, 1, MILLISECOND // 2, 0, 1000000, 0),
}
# What the scenario "outside" has.
OUTSIDE = {
    (None, None, ""): (1, MILLISECOND, 0, 0, 0, 0, 0),
    (None, None, "warm up"): (7, 7 * MILLISECOND, 3, 3000, 0, 0, 1500),
}


def has_cupti():
    """Whether this machine has CUPTI, as a machine with a GPU has."""
    for name in ("libcupti.so.13", "libcupti.so.12"):
        try:
            return bool(ctypes.CDLL(name))
        except OSError:
            pass
    return pathlib.Path("/usr/local/cuda").exists()


class GpuCase(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def environment(self, stand_in="libcupti.so.13", **more):
        names = {name: value for name, value in os.environ.items() if not name.startswith(("CREMA_", "CUDA_"))}
        names["STAND_IN_LIBRARY"] = str(STAND_INS / stand_in)
        names["STAND_IN_PROFILER"] = str(STAND_INS / "libstand_in_profiler.so")
        return {**names, **more}

    def run_program(self, scenario, status=0, **environment):
        """Returns what the program printed, and the lines of its logs."""
        shutil.rmtree(self.place / "records", ignore_errors=True)
        names = {"CREMA_DIR": str(self.place / "records"), "CREMA_INTERVAL": "0", "CREMA_GPU": "1"}
        names = self.environment(**{**names, "CUDA_INJECTION64_PATH": str(LIBRARY), **environment})
        result = subprocess.run([KNOWN, scenario], env=names, capture_output=True, text=True, timeout=300)
        self.assertEqual((result.returncode, result.stderr), (status, ""))
        logs = sorted((self.place / "records").glob("*.jsonl"))
        return result.stdout.strip(), [[json.loads(line) for line in log.read_text().splitlines()] for log in logs]

    def gpu(self, scenario, **environment):
        """The `gpu` lines of a run of one process."""
        _, logs = self.run_program(scenario, **environment)
        self.assertEqual(len(logs), 1)
        return [line for line in logs[0] if line["type"] == "gpu"]

    def sums(self, lines, *keys):
        found = collections.defaultdict(lambda: [0] * len(COUNTS))
        for line in lines:
            for row in line["work"]:
                counts = found[tuple(row[key] for key in keys)]
                for i, name in enumerate(COUNTS):
                    counts[i] += row[name]
        return {key: tuple(counts) for key, counts in found.items()}

    def expect_chunks(self, lines, chunks):
        by_chunk = self.sums(lines, "chunk", "section")
        expected = {(chunk, section): counts for chunk in range(chunks) for section, counts in OF_CHUNK.items()}
        self.assertEqual(by_chunk, expected)
        kernels = collections.Counter()
        for line in lines:
            for kernel in line["kernels"]:
                kernels[kernel["name"], kernel["section"]] += kernel["total_ns"]
        self.assertEqual(
            kernels,
            {("_Z6LayersPf", "infer"): chunks * 3 * MILLISECOND, ("_Z4Reluv", "infer"): chunks * 4 * MILLISECOND},
        )
        self.assertEqual((lines[-1]["reason"], lines[-1]["lost"], lines[-1]["last"]), (None, 0, True))
        self.assertEqual([line["last"] for line in lines[:-1]], [False] * (len(lines) - 1))


class RecordedGpuTest(GpuCase):
    def test_each_chunk_and_section_has_what_its_thread_launched(self):
        for stand_in in ("libcupti.so.13", "libcupti.so.12"):
            for order in ("", "calls_last", "shuffled"):
                with self.subTest(stand_in=stand_in, order=order):
                    _, logs = self.run_program("spin", stand_in=stand_in, STAND_IN_ORDER=order)
                    (log,) = logs
                    lines = [line for line in log if line["type"] == "gpu"]
                    self.expect_chunks(lines, 10)
                    datasets = {line["chunk"]: line["dataset"] for line in log if line["type"] == "chunk"}
                    for line in lines:
                        for row in line["work"]:
                            self.assertEqual(row["dataset"], datasets[row["chunk"]])

    def test_waiting_is_cpu_time_if_the_thread_spins_and_not_if_it_sleeps(self):
        spun, slept = ([row for line in self.gpu(scenario) for row in line["work"]] for scenario in ("spin", "block"))
        for rows in (spun, slept):
            waited = sum(row["wait_ns"] for row in rows)
            self.assertGreater(waited, 10 * 8 * MILLISECOND)  # planted: 8.5 ms in each chunk
            self.assertTrue(all(0 <= row["wait_cpu_ns"] <= row["wait_ns"] for row in rows))
        # A thread that sleeps uses hardly any CPU time, however busy the machine is.
        self.assertGreater(sum(row["wait_cpu_ns"] for row in spun), 5 * sum(row["wait_cpu_ns"] for row in slept))

    def test_a_device_that_is_used_by_two_streams_is_busy_once(self):
        lines = self.gpu("two streams")
        last = lines[-1]
        self.assertEqual(self.sums(lines), {(): (2, 1000 * MILLISECOND, 0, 0, 0, 0, 0)})
        self.assertGreaterEqual(last["busy_ns"], 500 * MILLISECOND)
        self.assertLess(last["busy_ns"], 1000 * MILLISECOND)

    def test_work_outside_chunks_belongs_to_the_process(self):
        for unknown in ("", "1"):  # records of a kind that a later CUPTI may have
            with self.subTest(unknown=unknown):
                lines = self.gpu("outside", STAND_IN_UNKNOWN=unknown)
                self.assertEqual(self.sums(lines, "chunk", "dataset", "section"), OUTSIDE)
                self.assertEqual(lines[-1]["lost"], 0)

    def test_what_has_not_ended_with_the_program_is_lost_and_counted(self):
        lines = self.gpu("endless")
        self.assertEqual(self.sums(lines), {(): (1, MILLISECOND, 0, 0, 0, 0, 0)})
        self.assertEqual(lines[-1]["lost"], 1)

    def test_work_that_ends_after_its_chunk_names_the_chunk(self):
        self.assertEqual(self.sums(self.gpu("late"), "chunk"), {(0,): (1, 30 * MILLISECOND, 0, 0, 0, 0, 0)})

    def test_what_a_helper_launches_is_in_the_section_of_its_chunk(self):
        self.assertEqual(
            self.sums(self.gpu("helper"), "chunk", "section"),
            {(0, "outer/inner"): (1, MILLISECOND, 0, 0, 0, 0, 0)},
        )

    def test_what_a_helper_launches_after_its_chunk_is_the_process_s(self):
        """A race with what the thread of the chunk does next: most runs do not meet it."""
        sums = self.sums(self.gpu("stale helper"), "chunk", "dataset", "section")
        self.assertEqual(sums[0, "even", "outer 0/inner"][1] // MILLISECOND, 1)
        self.assertLessEqual(set(sums), {(0, "even", "outer 0/inner"), (None, None, "")})

    def test_each_helper_scope_of_a_thread_is_in_the_section_of_its_own_chunk(self):
        expected = {
            (chunk, dataset, f"{section}{inner}"): (2, 2 * MILLISECOND, 0, 0, 0, 0, 0)
            for chunk, dataset, section in ((0, "even", "first"), (1, "odd", "second"))
            for inner in ("", "/inner")
        }
        self.assertEqual(self.sums(self.gpu("helpers"), "chunk", "dataset", "section"), expected)

    def test_a_clock_that_is_read_on_another_thread_gives_no_place(self):
        (last,) = self.gpu("spin", STAND_IN_CLOCK_THREAD="1")[-1:]
        self.assertEqual(last["lost"], 70)  # 50 kernels and 20 copies
        self.assertIn(None, {row["wait_cpu_ns"] for row in last["work"]})

    def test_lost_records_are_counted(self):
        lines = self.gpu("spin", STAND_IN_DROPPED="3")
        self.assertGreater(lines[-1]["lost"], 0)
        self.assertEqual(lines[-1]["lost"] % 3, 0)

    def test_a_process_without_cuda_has_no_line(self):
        self.assertEqual(self.gpu("no cuda"), [])

    def test_it_says_why_nothing_is_counted(self):
        for environment, reason in [
            ({"STAND_IN_ERROR": "cuptiActivityEnable"}, "CUPTI refused"),
            ({"STAND_IN_ERROR": "cuptiActivityRegisterCallbacks"}, "CUPTI refused"),
            ({"STAND_IN_ERROR": "cuptiActivityRegisterTimestampCallback"}, "CUPTI refused"),
            ({"STAND_IN_SUBSCRIBED": "1"}, "was there first"),
            *([] if has_cupti() else [({"stand_in": "libstand_in.so"}, "libcupti.so.13 nor libcupti.so.12 was found")]),
            ({"CUDA_INJECTION64_PATH": ""}, "CUDA_INJECTION64_PATH does not name"),
            ({"CUDA_INJECTION64_PATH": "/nowhere/libother.so"}, "CUDA_INJECTION64_PATH does not name"),
        ]:
            with self.subTest(environment=environment):
                lines = self.gpu("spin", **environment)
                self.assertIn(reason, lines[-1]["reason"])
                self.assertEqual(lines[-1]["work"], [])
                for name in ("cupti_version", "busy_ns", "lost"):
                    self.assertIsNone(lines[-1][name])

    def test_another_injection_library_is_not_loaded(self):
        loaded, other = self.place / "loaded", STAND_INS / "libstand_in_profiler.so"
        lines = self.gpu("no cuda", CUDA_INJECTION64_PATH=str(other), STAND_IN_LOADED=str(loaded))
        self.assertIn("CUDA_INJECTION64_PATH does not name", lines[-1]["reason"])
        self.assertFalse(loaded.exists())

    def test_a_profiler_that_begins_gets_all_that_it_asked_for(self):
        for scenario in ("profiler", "late profiler"):
            with self.subTest(scenario=scenario):
                printed, (log,) = self.run_program(scenario)
                records, mixed = map(int, printed.split())
                self.assertEqual((records, mixed), (15, 0))  # kernels of the three chunks after it began
                lines = [line for line in log if line["type"] == "gpu"]
                self.assertIn("took over", lines[-1]["reason"])
                self.assertEqual({key[0] for key in self.sums(lines, "chunk")}, {0, 1})
                ends = [line["stop_ns"] for line in log if line["type"] == "chunk"]
                self.assertTrue(ends[1] <= lines[-1]["until_ns"] <= ends[2])

    def test_a_forked_child_is_not_taken_for_its_parent(self):
        _, logs = self.run_program("fork")
        lines = [[line for line in log if line["type"] == "gpu"] for log in logs]
        self.assertEqual(sorted(map(len, lines))[0], 0)
        self.expect_chunks(max(lines, key=len), 1)

    def test_a_child_that_begins_with_cuda_itself_is_counted(self):
        _, logs = self.run_program("fork first")
        logs = [[line for line in log if line["type"] == "gpu"] for log in logs]
        self.assertEqual(len(logs), 2)
        for lines in logs:
            self.expect_chunks(lines, len(self.sums(lines, "chunk")))
        self.assertEqual(sorted(len(self.sums(lines, "chunk")) for lines in logs), [2, 3])

    def test_a_program_that_a_child_becomes_is_counted(self):
        _, logs = self.run_program("exec")
        parent, child = sorted(
            ([line for line in log if line["type"] == "gpu"] for log in logs),
            key=lambda lines: (None,) in self.sums(lines, "chunk"),
        )
        self.expect_chunks(parent, 1)
        self.assertEqual(self.sums(child, "chunk", "dataset", "section"), OUTSIDE)

    def test_a_killed_process_leaves_all_but_the_last_seconds(self):
        _, (log,) = self.run_program("killed", status=-9)
        lines = [line for line in log if line["type"] == "gpu"]
        self.assertTrue(lines)
        self.assertFalse(lines[-1]["last"])
        whole = {key[0] for key, counts in self.sums(lines, "chunk").items() if counts[0] == 5}
        self.assertGreater(len(whole), 10)

    def test_nothing_is_there_unless_it_was_asked_for(self):
        self.assertEqual(self.gpu("spin", CREMA_GPU="0"), [])

    def test_the_document_of_the_format_names_the_fields(self):
        text = FORMAT.read_text()
        example = json.loads(re.search(r'^\{"type":"gpu".*$', text, re.MULTILINE).group())
        last = self.gpu("spin")[-1]
        self.assertEqual(list(example), list(last))
        self.assertEqual(list(example["work"][0]), list(last["work"][0]))
        self.assertEqual(list(example["kernels"][0]), list(last["kernels"][0]))


class MeasuredGpuTest(GpuCase):
    def run_crema(self, scenario, *options, **environment):
        """Returns the measurement of `crema run`, and what it printed."""
        place = self.place / "run"
        command = [CREMA, "run", *options, "--replace", "-o", place, "--", KNOWN, scenario]
        result = subprocess.run(
            list(map(str, command)), env=self.environment(**environment), capture_output=True, text=True, timeout=300
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(list((place / "records").glob("*.so")), [])
        return json.loads((place / "measurement.json").read_text()), result.stderr

    def test_tables_have_what_the_records_say(self):
        measurement, _ = self.run_crema("spin", "--gpu")
        metrics = measurement["metrics"]
        self.assertAlmostEqual(metrics["gpu_seconds"], 0.070)
        self.assertAlmostEqual(metrics["gpu_copy_seconds"], 0.015)
        self.assertEqual((metrics["gpu_launches"], metrics["gpu_to_device_bytes"]), (50, 20000000))
        sections = {row["path"]: row for row in measurement["sections"]}
        self.assertAlmostEqual(sections["infer"]["gpu_seconds"], 0.070)
        self.assertAlmostEqual(sections["upload"]["gpu_copy_seconds"], 0.010)
        self.assertEqual(sections["download"]["gpu_from_device_bytes"], 10000000)
        self.assertEqual(sections["(other)"]["gpu_launches"], 0)
        self.assertEqual({row["name"]: row["gpu_launches"] for row in measurement["datasets"]}, {"even": 25, "odd": 25})
        kernels = [(row["kernel"], row["dataset"], row["launches"]) for row in measurement["gpu_kernels"]]
        self.assertEqual(
            sorted(kernels),
            [
                ("Layers(float*)", "even", 5),
                ("Layers(float*)", "odd", 5),
                ("Relu()", "even", 20),
                ("Relu()", "odd", 20),
            ],
        )

    def test_a_section_that_waits_is_predicted_to_be_faster_by_its_kernels(self):
        # On a busy machine a replay may miss what was measured: then nothing is predicted.
        for _ in range(10):
            self.run_crema("spin", "--gpu")
            if subprocess.run([CREMA, "predict", self.place / "run"], capture_output=True, timeout=300).returncode == 0:
                break
            shutil.rmtree(self.place / "run")
        else:
            self.skipTest("the machine is too busy for a run that can be predicted")

        def wall_time(change, factor):
            command = [CREMA, "predict", self.place / "run", "--json", change, f"infer={factor}"]
            printed = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, timeout=300)
            (row,) = json.loads(printed.stdout)["predicted"]
            self.assertEqual(row["change"], f"{change} infer={factor}")
            return row["wall_time"]

        self.assertGreaterEqual(
            wall_time("--faster", 1000000), 5 * 0.007
        )  # five chunks of each thread, kernels of 7 ms
        self.assertLess(wall_time("--faster-gpu", 2), wall_time("--faster-gpu", 1))

    def test_each_chunk_has_its_columns(self):
        self.run_crema("profiler", "--gpu")
        command = [CREMA, "export", self.place / "run", "--to", "chunks", "-o", "-"]
        printed = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, timeout=300)
        chunks = sorted(map(json.loads, printed.stdout.splitlines()), key=lambda row: row["chunk"])
        self.assertEqual([row["gpu_launches"] for row in chunks], [5, 5, None, None, None])
        for row in chunks[:2]:
            self.assertAlmostEqual(row["gpu_seconds"], 0.007)
            self.assertEqual((row["gpu_to_device_bytes"], row["gpu_from_device_bytes"]), (2000000, 1000000))
            self.assertLessEqual(row["gpu_wait_cpu_seconds"], row["gpu_wait_seconds"])

    def test_waiting_for_the_gpu_is_a_part_of_its_own(self):
        for scenario in ("spin", "block"):
            with self.subTest(scenario=scenario):
                measurement, _ = self.run_crema(scenario, "--gpu")
                budget = {row["part"]: row["core_seconds"] for row in measurement["budget"]}
                metrics = measurement["metrics"]
                self.assertGreater(budget["gpu_wait"], 0)
                self.assertLessEqual(budget["gpu_wait"], metrics["gpu_wait_seconds"] + 1e-9)
                spun = metrics["gpu_wait_cpu_seconds"]
                self.assertAlmostEqual(budget["compute"] + spun, metrics["chunk_cpu_time"], delta=0.01)
                self.assertAlmostEqual(sum(budget.values()), metrics["core_seconds"], places=6)

    def test_figures_are_null_with_the_reason_if_not_all_was_counted(self):
        for scenario, environment, reason in [
            ("profiler", {}, "took over"),
            ("spin", {"STAND_IN_ERROR": "cuptiActivityEnable"}, "CUPTI refused"),
            ("spin", {"STAND_IN_DROPPED": "1"}, "kernels and copies are not known"),
        ]:
            with self.subTest(scenario=scenario, environment=environment):
                measurement, _ = self.run_crema(scenario, "--gpu", **environment)
                self.assertIsNone(measurement["metrics"]["gpu_seconds"])
                self.assertIn(reason, measurement["quality"]["not_measured"]["gpu_seconds"])
                self.assertEqual({row["gpu_seconds"] for row in measurement["sections"]}, {None})

    def test_another_injection_stays(self):
        _, printed = self.run_crema("spin", "--gpu", CUDA_INJECTION64_PATH="/nowhere/libother.so")
        self.assertIn("CUDA_INJECTION64_PATH is /nowhere/libother.so already", printed)


class SampledGpuTest(GpuCase):
    def measure(self, *command, options=(), **environment):
        place = self.place / "run"
        names = self.environment(LD_LIBRARY_PATH=str(STAND_INS), **environment)
        command = [CREMA, "run", "-q", "--replace", *options, "-o", place, "--", *command]
        subprocess.run(list(map(str, command)), env=names, check=True, timeout=300)
        return json.loads((place / "measurement.json").read_text()), [
            json.loads(line) for line in next((place / "records").glob("*.tree.ndjson")).read_text().splitlines()
        ]

    def test_the_tree_and_the_others_are_told_apart(self):
        pid = self.place / "pid"
        program = f"echo $$ > {pid}; sleep 3"
        measurement, lines = self.measure("sh", "-c", program, STAND_IN_TREE_PID=str(pid), STAND_IN_GPUS="2")
        used = [line for line in lines if line["type"] == "tree_sample" and "gpus" in line][-2]["gpus"]
        self.assertEqual([gpu["index"] for gpu in used], [0, 1])
        self.assertEqual(used[0]["name"], 'Stand-in "100"')
        self.assertEqual([gpu["tree_memory_bytes"] for gpu in used], [2000000000, 0])
        self.assertEqual([gpu["other_processes"] for gpu in used], [1, 1])
        metrics = measurement["metrics"]
        self.assertEqual(metrics["gpu_utilization"], 0.75)  # of the one that is used
        self.assertEqual(metrics["gpu_peak_memory_bytes"], 2000000000)
        self.assertGreater(metrics["gpu_energy"], 0)

    def test_a_process_that_is_not_visible_is_nobodys(self):
        pid = self.place / "pid"
        pid.write_text("4194305")  # larger than any id here: as in a container, where the driver names the host's ids
        measurement, lines = self.measure("sleep", "2.2", STAND_IN_TREE_PID=str(pid))
        used = [line for line in lines if line["type"] == "tree_sample" and "gpus" in line][-1]["gpus"][0]
        self.assertIsNone(used["tree_memory_bytes"])
        self.assertIsNone(used["other_processes"])
        metrics = measurement["metrics"]
        self.assertEqual(metrics["gpu_utilization"], 0.75)  # it may be the tree's
        self.assertIsNone(metrics["gpu_utilization_of_others"])
        self.assertIsNone(metrics["gpu_peak_memory_bytes"])

    def test_a_busy_gpu_that_lists_no_process_is_nobodys(self):
        measurement, _ = self.measure("sleep", "2.2", STAND_IN_NO_PROCESSES="1")
        metrics = measurement["metrics"]
        self.assertEqual((metrics["gpu_utilization"], metrics["gpu_peak_memory_bytes"]), (0.75, None))

    def test_a_machine_without_a_gpu_lacks_nothing(self):
        for environment in ({"STAND_IN_GPUS": "0"}, {"STAND_IN_NVML_ERROR": "nvmlInit_v2"}):
            with self.subTest(environment=environment):
                measurement, lines = self.measure("sleep", "0.1", **environment)
                self.assertNotIn("gpus", lines[-1])
                self.assertIsNone(measurement["metrics"]["gpu_utilization"])

    def test_what_one_function_refuses_is_null_and_the_rest_is_there(self):
        measurement, lines = self.measure("sleep", "2", STAND_IN_NVML_ERROR="nvmlDeviceGetPowerUsage")
        (gpu,) = [line for line in lines if line["type"] == "tree_sample" and "gpus" in line][-1]["gpus"]
        self.assertEqual((gpu["power_mw"], gpu["utilization_percent"]), (None, 75))

    def test_a_driver_that_hangs_delays_neither_the_program_nor_its_end(self):
        for function in ("nvmlInit_v2", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetTotalEnergyConsumption"):
            with self.subTest(function=function):
                self.measure("true", STAND_IN_NVML_HANGS=function)  # a run that does not end fails here

    def test_the_share_of_processes_is_asked_for_seldom(self):
        calls = self.place / "calls"
        self.measure("sleep", "4", STAND_IN_CALLS=str(calls))
        counts = collections.Counter(calls.read_text().split())
        self.assertGreaterEqual(counts["nvmlDeviceGetUtilizationRates"], 3)
        self.assertEqual(counts["nvmlDeviceGetProcessUtilization"], 0)
        self.assertEqual(counts["nvmlDeviceGetTotalEnergyConsumption"], 2)

    def test_the_busy_time_is_divided_if_all_that_share_the_gpu_are_visible(self):
        pid = self.place / "pid"
        program = f"echo $$ > {pid}; sleep 12"
        server_file = shutil.copy(shutil.which("sleep"), self.place / "nvidia-cuda-mps-server")
        server = subprocess.Popen([server_file, "1000"])
        self.addCleanup(lambda: (server.kill(), server.wait()))
        for environment, of_others in [
            ({}, 0.15),
            ({"STAND_IN_NO_SHARES": "1"}, 0),
            ({"STAND_IN_OTHER_PID": "4194305"}, None),
            ({"STAND_IN_MPS_PID": str(server.pid)}, None),  # whose work that of its clients may be
        ]:
            with self.subTest(environment=environment):
                calls = self.place / "calls"
                calls.unlink(missing_ok=True)
                names = {"STAND_IN_TREE_PID": str(pid), "STAND_IN_CALLS": str(calls), **environment}
                measurement, lines = self.measure("sh", "-c", program, options=["--interval", "0.5"], **names)
                used = [line["gpus"][0] for line in lines if line["type"] == "tree_sample" and "gpus" in line]
                others = {gpu["other_processes"] for gpu in used} - {None}  # null where a process just ended
                self.assertEqual(others, {0 if "STAND_IN_MPS_PID" in environment else 1})
                self.assertEqual(calls.read_text().split().count("nvmlDeviceGetProcessUtilization"), 1)
                self.assertAlmostEqual(measurement["metrics"]["gpu_utilization_of_others"], of_others)

    def test_the_headline_does_not_judge_a_gpu_that_nobody_counted(self):
        pid = self.place / "pid"
        program = f"echo $$ > {pid}; exec {KNOWN} judged"
        for environment, utilization, memory in [
            ({}, 0.75, 2000000000),
            (
                {"STAND_IN_NVML_ERROR": "nvmlDeviceGetUtilizationRates"},
                None,
                2000000000,
            ),  # as of a divided device (MIG)
            ({"STAND_IN_NO_PROCESSES": "1"}, 0.75, None),
        ]:
            with self.subTest(environment=environment):
                measurement, _ = self.measure("sh", "-c", program, STAND_IN_TREE_PID=str(pid), **environment)
                metrics = measurement["metrics"]
                self.assertEqual((metrics["gpu_utilization"], metrics["gpu_peak_memory_bytes"]), (utilization, memory))
                # On a busy machine, waiting for a CPU may be the larger part.
                self.assertRegex(measurement["headline"], r"^(Uses|May use) a GPU.*--gpu|^Short of CPU")
                verdicts = {row["id"] for row in measurement["verdicts"]}
                self.assertFalse({"compute-bound", "waiting-bound", "healthy"} & verdicts)
        measurement, _ = self.measure("sh", "-c", program, options=["--gpu"], STAND_IN_TREE_PID=str(pid))
        self.assertGreater(measurement["metrics"]["gpu_wait_cpu_seconds"], 0)
        self.assertNotIn("use a GPU", measurement["headline"].replace("Uses", "use"))


if __name__ == "__main__":
    unittest.main()
