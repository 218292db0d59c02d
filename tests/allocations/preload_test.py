"""Commands under `crema run --allocations`, with programs that can load the library and programs that cannot. They
print the same as without it, and end in the same way."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

KNOWN = pathlib.Path("tests/allocations/known_allocations").absolute()
OWN_OPERATORS = pathlib.Path("tests/allocations/own_operators").absolute()
EVERY_START = pathlib.Path("tests/allocations/every_start").absolute()
HOSTILE = pathlib.Path("tests/allocations/hostile_program").absolute()
LIBRARY = pathlib.Path("sdk/allocations/libcrema_allocations.so").absolute()
CREMA = pathlib.Path("collector/cli/crema").absolute()

# write(1, text, 6), exit(0)
SYSTEM_CALLS = {
    "32": """call 1f
        1: pop %ecx; add $(text - 1b), %ecx; mov $4, %eax; mov $1, %ebx; mov $6, %edx; int $0x80
        mov $1, %eax; xor %ebx, %ebx; int $0x80""",
    "64": """mov $1, %eax; mov $1, %edi; lea text(%rip), %rsi; mov $6, %edx; syscall
        mov $60, %eax; xor %edi, %edi; syscall""",
}
LINKER_OF_32_BITS = "/lib/ld-linux.so.2"
LINKER_OF_MUSL = "/lib/ld-musl-x86_64.so.1"


class PreloadCase(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.prefix, self.output = self.place / "prefix", self.place / "output"
        for source, folder in ((CREMA, "bin"), (LIBRARY, "lib")):
            (self.prefix / folder).mkdir(parents=True)
            shutil.copy(source, self.prefix / folder)
        self.output.mkdir()

    def start(self, *command, **environment):
        names = {name: value for name, value in os.environ.items() if not name.startswith("CREMA_")}
        names.update(environment)
        result = subprocess.run([str(word) for word in command], env=names, capture_output=True, text=True, timeout=120)
        own = [line for line in result.stderr.splitlines() if not line.startswith("crema")]
        return result.returncode, result.stdout, own

    def crema(self):
        return [self.prefix / "bin/crema", "run", "-q", "--allocations", "-o", self.output / "run", "--"]

    def assert_starts(self, *command, **environment):
        """Checks that the command does the same with and without the library. Returns the measurement, if there is
        one."""
        plain = self.start(*command, **environment)
        self.assertEqual((plain[0], plain[2]), (0, []), "the command itself")
        shutil.rmtree(self.output / "run", ignore_errors=True)
        self.assertEqual(self.start(*self.crema(), *command, **environment), plain)
        self.assertFalse(list(self.output.rglob("*.so")), "the copy is taken away")
        document = self.output / "run/measurement.json"
        return json.loads(document.read_text()) if document.exists() else None

    def namespace(self, script):
        """A command that runs the script in a mount namespace of its own."""
        command = ["unshare", "--map-root-user", "--mount", "sh", "-ec", script, "sh"]
        if subprocess.run([*command[:3], "mount", "-t", "tmpfs", "none", self.output], capture_output=True).returncode:
            self.skipTest("mount namespaces are not allowed here")
        return command

    def program_of(self, bits, linker=None):
        """A program without libraries that prints `hello`, for this dynamic linker, or linked statically."""
        if os.uname().machine != "x86_64":
            self.skipTest("its code is x86-64")
        if linker is not None and not pathlib.Path(linker).exists():
            self.skipTest(f"{linker} is not installed: tools/setup test")
        stem = self.place / f"hello{bits}{len(linker or '')}"
        code = f'.globl _start\n_start: {SYSTEM_CALLS[bits]}\ntext: .ascii "hello\\n"\n'
        code += '.section .note.GNU-stack,"",@progbits\n'
        subprocess.run(["as", f"--{bits}", "-o", f"{stem}.o"], input=code.encode(), check=True)
        linking = ["ld", "-m", "elf_i386" if bits == "32" else "elf_x86_64", "-o", stem, f"{stem}.o"]
        if linker is not None:  # a shared object makes the linker write the sections for the dynamic linker
            subprocess.run([*linking[:3], "-shared", "-o", f"{stem}.so", f"{stem}.o"], check=True)
            linking += ["--dynamic-linker", linker, "--no-as-needed", f"{stem}.so", "-rpath", self.place]
        subprocess.run(linking, check=True)
        return stem


class NamespaceTest(PreloadCase):
    def test_where_only_the_records_are_there_processes_are_counted(self):
        script = f"mount -t tmpfs none {self.prefix}; /bin/echo hello; x=$(/bin/ls -d /etc 2>&1); echo $x"
        document = self.assert_starts(*self.namespace(f"{script}; {KNOWN} > /dev/null"))
        self.assertGreater(document["metrics"]["allocations"], 0)

    def test_where_nothing_is_there_processes_start_without_it(self):
        hide = f"mount -t tmpfs none {self.prefix}; mount -t tmpfs none {self.output}"
        script = f"{hide}; /bin/echo hello; sh -c '/bin/echo from a shell'; {sys.executable} -c 'print(1)'"
        self.assert_starts(*self.namespace(script))

    def test_where_it_may_not_be_executed_the_reason_is_there(self):
        forbid = f"mount --bind {self.output} {self.output}; mount -o remount,bind,noexec {self.output}"
        document = self.assert_starts(*self.namespace(f"{forbid}; /bin/echo hello; {KNOWN} > /dev/null"))
        self.assertIsNone(document["metrics"]["allocations"])
        self.assertIn("was not loaded", document["quality"]["not_measured"]["allocations"])

    def test_with_records_on_such_a_file_system_the_installed_one_is_loaded(self):
        measured = self.place / "measurement.json"
        script = f'mount -t tmpfs -o noexec none {self.output}; "$@"; cp {self.output}/run/measurement.json {measured}'
        status, _, errors = self.start(*self.namespace(script), *self.crema(), KNOWN)
        self.assertEqual((status, errors), (0, []))
        self.assertGreater(json.loads(measured.read_text())["metrics"]["allocations"], 0)


class GoneTest(PreloadCase):
    def another_user(self):
        become = ["setpriv", "--reuid=65534", "--clear-groups"]
        if subprocess.run([*become, "true"], capture_output=True).returncode:
            self.skipTest("only root can become another user, and not in a user namespace")
        return become

    def test_records_that_are_removed_meanwhile_cost_no_line(self):
        code = f"""if True:
            import os, shutil, subprocess, sys
            shutil.rmtree({str(self.output / "run")!r}, ignore_errors=True)
            print(os.system("/bin/echo hello"), os.popen("/bin/echo hello").read(), flush=True)
            subprocess.run(["/bin/echo", "hello"], check=True)
            os.waitpid(os.posix_spawn("/bin/echo", ["echo", "hello"], os.environ), 0)
            os.execv("/bin/sh", ["sh", "-c", "/bin/echo hello"])"""
        self.assert_starts(sys.executable, "-c", code)

    def test_for_another_user_it_is_left_out(self):
        self.assert_starts(*self.another_user(), "/bin/sh", "-c", "/bin/echo hello; /bin/echo again")

    def test_a_setuid_program_starts(self):
        program = self.place / "setuid"
        shutil.copy("/bin/echo", program)
        program.chmod(0o4755)
        self.place.chmod(0o755)
        self.assert_starts(program, "hello")
        self.assert_starts(*self.another_user(), program, "hello")


class OtherProgramsTest(PreloadCase):
    def assert_program_starts(self, program):
        self.assert_starts(program)
        self.assert_starts("/bin/sh", "-c", f"{program}; {program}; true")
        script = self.place / "script"
        script.write_text(f"#!{program} -x\n")
        script.chmod(0o755)
        self.assert_starts("/bin/sh", "-c", f"{script}; {sys.executable} -c 'print(1)'")
        self.assert_starts(EVERY_START, program, PATH=f"{self.place}:{os.environ['PATH']}")

    def test_of_another_word_size(self):
        self.assert_program_starts(self.program_of("32", LINKER_OF_32_BITS))

    def test_of_another_c_library(self):
        self.assert_program_starts(self.program_of("64", LINKER_OF_MUSL))

    def test_without_a_dynamic_linker(self):
        self.assert_program_starts(self.program_of("64"))
        self.assert_program_starts(self.program_of("32"))

    def test_with_a_sanitizer(self):
        """The sanitizer's runtime has to come before all other libraries."""
        for sanitizer in ("address", "thread", "leak"):
            program = self.place / sanitizer
            source = b'#include <stdio.h>\nint main() { puts("hello"); }'
            compiling = ["gcc", f"-fsanitize={sanitizer}", "-xc", "-", "-o", program]
            with self.subTest(sanitizer=sanitizer):
                if subprocess.run(compiling, input=source, capture_output=True).returncode:
                    self.skipTest("no such runtime is installed")
                if subprocess.run([program], capture_output=True).returncode:
                    self.skipTest("its runtime does not start here")
                self.assert_program_starts(program)


class HostileTest(PreloadCase):
    def test_bad_pointers_are_refused_by_the_kernel(self):
        self.assert_starts(HOSTILE, "pointers")

    def test_a_thread_that_allows_itself_only_reading_and_writing_allocates(self):
        self.assert_starts(HOSTILE, "strict")

    def test_starts_without_the_library_leave_no_memory_behind(self):
        self.assert_starts(HOSTILE, "vfork", "/bin/true")
        self.assert_starts(HOSTILE, "vfork", self.place / "no such program")
        self.assert_starts(HOSTILE, "vfork", self.program_of("64"))

    def test_a_library_that_is_named_twice_is_left_out_twice(self):
        gone = f"rm -r {self.output}/run/records 2>/dev/null; /bin/echo hello"
        self.assert_starts("bash", "-c", f"export LD_PRELOAD=$LD_PRELOAD:$LD_PRELOAD; {gone}")


class KeptTest(PreloadCase):
    def test_every_start_hands_on_arguments_and_environment(self):
        program = self.place / "say"
        program.write_text('#!/bin/sh\nexec echo "$@" "$MINE" ${LD_PRELOAD##*/}\n')
        program.chmod(0o755)
        names = {"PATH": f"{self.place}:{os.environ['PATH']}", "MINE": "kept"}
        _, plain, _ = self.start(EVERY_START, program, **names)
        self.assertEqual(plain, "one two kept\n" * 14)
        _, counted, errors = self.start(*self.crema(), EVERY_START, program, **names)
        self.assertEqual((counted, errors), (f"one two kept {LIBRARY.name}\n" * 14, []))

    def test_where_files_may_not_be_as_large_as_the_library_the_command_runs(self):
        command = " ".join(map(str, [*self.crema(), "/bin/echo", "hello"]))
        for kilobytes in (1, 16, 30):  # in units of 512 bytes (POSIX): too small for the whole library
            shutil.rmtree(self.output / "run", ignore_errors=True)
            with self.subTest(kilobytes=kilobytes):
                done = self.start("sh", "-c", f"ulimit -f {kilobytes}; {command}")
                self.assertEqual((done[0], done[1]), (0, "hello\n"))

    def test_what_is_no_regular_file_is_refused_as_ever(self):
        fifo = self.place / "fifo"
        os.mkfifo(fifo, 0o755)
        start = "import os, sys\ntry: os.execv(sys.argv[1], ['x'])\nexcept OSError as error: print(error.errno)"
        for path in (fifo, "/dev/null", "/tmp", "/no/such/file"):
            with self.subTest(path=path):
                self.assert_starts("/usr/bin/python3", "-c", start, path)
        status, _, _ = self.start(*self.crema(), fifo)
        self.assertEqual(status, 126)

    def test_a_large_environment_is_handed_on_without_a_library_that_is_gone(self):
        gone = f"rm -r {self.output}/run/records 2>/dev/null; /bin/echo hello"
        many = {f"VARIABLE_{number}": "x" * 10 for number in range(9000)}
        self.assert_starts("bash", "-c", gone, **many)

    def test_an_operator_new_that_writes_writes_as_often_as_ever(self):
        self.assert_starts(OWN_OPERATORS, OWN_OPERATORS_WRITE="1")

    def test_the_users_own_preloads_stay(self):
        mine = self.place / "mine.so"
        subprocess.run(["gcc", "-shared", "-xc", "/dev/null", "-o", mine], check=True)
        script = f"rm -rf {self.output}/run; exec /bin/sh -c 'echo \"$LD_PRELOAD\"'"
        self.assert_starts("/bin/sh", "-c", script, LD_PRELOAD=str(mine))

    def test_a_run_inside_a_run_is_counted_once(self):
        inner = self.place / "inner"
        inside = [*map(str, self.crema()[:4]), "-o", str(inner), "--", str(KNOWN)]
        status, _, errors = self.start(*self.crema(), *inside)
        self.assertEqual((status, errors), (0, []))
        _, _, errors = self.start(CREMA, "run", "-q", "--allocations", "-o", self.output / "plain", "--", KNOWN)
        documents = [json.loads((place / "measurement.json").read_text()) for place in (inner, self.output / "plain")]
        rows = [{row["path"]: row["allocations"] for row in document["sections"]} for document in documents]
        self.assertEqual(*rows)

    def test_a_directory_whose_crema_was_killed_can_be_written_again(self):
        self.start(*self.crema(), "/bin/sh", "-c", "kill -9 $PPID")
        self.assertTrue(list(self.output.rglob("*.so")))
        status, _, _ = self.start(*self.crema(), KNOWN)
        self.assertEqual(status, 0)


if __name__ == "__main__":
    unittest.main()
