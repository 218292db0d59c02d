"""Projects that use crema, each copied into an empty folder and built as its user would build it.

Run by tools/test, outside Bazel: `python3 -m unittest discover -s tests/consumers -p '*_test.py'` runs them alone. They
need no network.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CONSUMERS = pathlib.Path(__file__).resolve().parent
CHECKOUT = CONSUMERS.parent.parent


def run(*command, cwd, **environment):
    """Runs a command that has to succeed. A failure shows its output."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def install_sdk(prefix: pathlib.Path, *options: str) -> pathlib.Path:
    """Installs the SDK as docs/use_cmake.md says, and returns `prefix`."""
    with tempfile.TemporaryDirectory() as scratch:
        project = pathlib.Path(scratch, "analysis")
        project.mkdir()
        (project.parent / "crema").symlink_to(CHECKOUT)
        configure = ["cmake", "-S", "../crema/sdk", "-B", "build-crema", f"-DCMAKE_INSTALL_PREFIX={prefix}"]
        run(*configure, "-G", "Ninja", *options, cwd=project)
        run("cmake", "--build", "build-crema", cwd=project)
        run("cmake", "--install", "build-crema", cwd=project)
    return prefix


class ConsumersTest(unittest.TestCase):
    installed = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        (self.scratch / "crema").symlink_to(CHECKOUT)  # the projects expect a checkout beside them

    def copy_project(self, name: str) -> pathlib.Path:
        project = self.scratch / "analysis"
        shutil.copytree(CONSUMERS / name, project)
        shutil.copy(CONSUMERS / "analysis.cc", project)
        return project

    def check_records(self, *program, **environment):
        """Runs the analysis with recording on: one log, with the one chunk in it."""
        records = self.scratch / "records"
        run(*program, cwd=self.scratch, CREMA_DIR=str(records), **environment)
        logs = list(records.glob("*.jsonl"))
        self.assertEqual(len(logs), 1, logs)
        chunks = [line for line in map(json.loads, logs[0].read_text().splitlines()) if line["type"] == "chunk"]
        self.assertEqual(len(chunks), 1)
        self.assertEqual((chunks[0]["status"], chunks[0]["dataset"], chunks[0]["events"]), ("ok", "ttbar", 1000))
        self.assertEqual([section["path"] for section in chunks[0]["sections"]], ["select"])

    def test_cmake_add_subdirectory(self):
        """As docs/use_cmake.md does it, so that ccache knows the objects (tools/run_tests.py)."""
        project = self.copy_project("cmake_subdirectory")
        run("cmake", "-B", "build", cwd=project)
        run("cmake", "--build", "build", "-j", "2", cwd=project)
        self.check_records(project / "build/analysis")
        # a project without a build type does not get a slow recorder
        flags = (project / "build/crema/CMakeFiles/crema_objects.dir/flags.make").read_text()
        self.assertRegex(flags, r"CXX_FLAGS = .*-fno-rtti.* -O2\b")

    def check_find_package(self, prefix: pathlib.Path) -> None:
        project = self.copy_project("cmake_installed")
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=project)
        run("cmake", "--build", project / "build", cwd=project)
        self.check_records(project / "build/analysis")

    def test_cmake_find_package_of_an_installed_shared_library(self):
        prefix = install_sdk(self.scratch / "prefix", "-DBUILD_SHARED_LIBS=ON")
        self.assertEqual(list(prefix.rglob("libcrema.a")), [])
        self.check_find_package(prefix)

    def test_cmake_find_package_of_an_installed_static_library(self):
        self.check_find_package(self.static_sdk())

    def test_cmake_find_package_of_the_installed_c_library(self):
        project = self.copy_project("cmake_c")
        prefix = self.static_sdk()
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=project)
        run("cmake", "--build", project / "build", cwd=project)
        self.check_records(project / "build/analysis")

    def test_c_compiler_alone_with_the_installed_c_library(self):
        project = self.copy_project("cmake_c")
        header = next(self.static_sdk().rglob("crema_c.h"))
        library = next(self.static_sdk().rglob("libcrema_c.so"))
        where = (f"-I{header.parent}", f"-L{library.parent}")
        run("cc", "-std=c11", "analysis.c", *where, "-lcrema_c", "-o", "analysis", cwd=project)
        self.check_records(project / "analysis", LD_LIBRARY_PATH=str(library.parent))

    def test_cmake_with_a_compiler_for_musl(self):
        zig = ("c++", "-target", "x86_64-linux-musl")
        fetched = CHECKOUT / ".cache/test/zig/bin/python"
        ziglang = [(str(python), "-m", "ziglang", *zig) for python in (fetched, sys.executable)]
        for compiler in (("x86_64-linux-musl-g++",), ("zig", *zig), *ziglang):
            found = shutil.which(compiler[0])
            if found and subprocess.run([*compiler, "--version"], capture_output=True).returncode == 0:
                break
        else:
            self.skipTest("no compiler for musl, neither x86_64-linux-musl-g++ nor zig: tools/setup musl fetches one")
        project = self.copy_project("cmake_subdirectory")
        options = (f"-DCMAKE_CXX_COMPILER={';'.join((found, *compiler[1:]))}", "-DCMAKE_EXE_LINKER_FLAGS=-static")
        run("cmake", "-S", project, "-B", project / "build", "-G", "Ninja", *options, cwd=project)
        run("cmake", "--build", project / "build", cwd=project)
        self.check_records(project / "build/analysis")

    def test_pkg_config_of_an_installed_static_library(self):
        module_directory = next(self.static_sdk().rglob("crema.pc")).parent
        project = self.copy_project("pkg_config")
        run("make", cwd=project, PKG_CONFIG_PATH=str(module_directory))
        self.check_records(project / "analysis")

    def test_meson_with_an_installed_static_library(self):
        meson = shutil.which(CHECKOUT / ".cache/test/meson/bin/meson") or shutil.which("meson")
        if meson is None:
            self.skipTest("no Meson in .cache/test/meson: tools/setup test installs it")
        project = self.copy_project("meson")
        modules = next(self.static_sdk().rglob("crema.pc")).parent
        run(meson, "setup", "build", "--pkg-config-path", modules, cwd=project)
        run(meson, "compile", "-C", "build", cwd=project)
        self.check_records(project / "build/analysis")

    def test_pkg_config_of_the_installed_c_library(self):
        where = {"PKG_CONFIG_PATH": str(next(self.static_sdk().rglob("crema_c.pc")).parent)}
        project = self.copy_project("cmake_c")
        flags = run("pkg-config", "--cflags", "--libs", "crema_c", cwd=project, **where).split()
        run("cc", "-std=c11", "analysis.c", *flags, "-o", "analysis", cwd=project)
        self.check_records(project / "analysis")

    def test_a_helper_and_the_tasks_of_an_event_in_c(self):
        where = {"PKG_CONFIG_PATH": str(next(self.static_sdk().rglob("crema_c.pc")).parent)}
        project = self.copy_project("cmake_c")
        flags = run("pkg-config", "--cflags", "--libs", "crema_c", cwd=project, **where).split()
        run("cc", "-std=c11", "-Wall", "-Werror", "threads.c", *flags, "-pthread", "-o", "threads", cwd=project)
        run("./threads", cwd=project, CREMA_DIR="records", CREMA_INTERVAL="0")
        (log,) = (project / "records").glob("*.jsonl")
        lines = list(map(json.loads, log.read_text().splitlines()))
        chunk, event = (line for line in lines if line["type"] == "chunk")
        self.assertEqual([(row["path"], row["helper"]) for row in chunk["sections"]], [("select", True)])
        self.assertEqual((event["dataset"], event["events"], event["status"]), ("raw", 1, "ok"))
        (sums,) = (line for line in lines if line["type"] == "task_sums")
        self.assertEqual([row["tasks"] for row in sums["latencies"]], [2])
        self.assertGreater(sums["latencies"][0]["queued_ns"], 0)
        self.assertEqual((lines[-1]["dropped"], lines[-1]["misused"]), (0, 0))

    def test_pkg_config_modules_move_with_their_prefix(self):
        moved = shutil.copytree(self.static_sdk(), self.scratch / "moved")
        where = {"PKG_CONFIG_PATH": str(next(moved.rglob("crema.pc")).parent)}
        for module in ("crema", "crema_c", "crema_cpp"):
            flags = run("pkg-config", "--cflags", "--libs", module, cwd=self.scratch, **where)
            self.assertIn(f"-I{moved}/", flags)
            self.assertNotIn(str(self.static_sdk()), flags)

    def test_a_program_that_was_installed_with_the_sdk_knows_it(self):
        prefix = self.static_sdk()
        config = (prefix / "bin/crema", "config")
        self.assertEqual(run(*config, "--prefix", cwd=self.scratch), f"{prefix}\n")
        project = self.copy_project("cmake_installed")
        options = f"-Dcrema_DIR={run(*config, '--cmake-dir', cwd=project).strip()}"
        run("cmake", "-S", project, "-B", project / "build", options, cwd=project)
        self.assertTrue((prefix / "share/man/man1/crema-run.1").is_file())
        self.assertTrue((prefix / "share/bash-completion/completions/crema").is_file())

    @classmethod
    def static_sdk(cls) -> pathlib.Path:
        """The SDK and the program as they install by default, built once for the tests that need them."""
        if cls.installed is None:
            folder = tempfile.TemporaryDirectory()
            cls.addClassCleanup(folder.cleanup)
            run(
                "bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//collector/cli:crema", cwd=CHECKOUT
            )
            program = CHECKOUT / "bazel-bin/collector/cli/crema"
            cls.installed = install_sdk(pathlib.Path(folder.name).resolve(), f"-DCREMA_PROGRAM={program}")
        return cls.installed


class PluginsTest(unittest.TestCase):
    """A program that loads plug-ins with RTLD_LOCAL, so that they do not see its symbols."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = install_sdk(pathlib.Path(folder.name).resolve() / "prefix")

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.records = self.scratch / "records"

    def lines(self, *program) -> list:
        """What the program records, in one log."""
        shutil.rmtree(self.records, ignore_errors=True)
        run(*program, cwd=self.scratch, CREMA_DIR=str(self.records), CREMA_INTERVAL="0")
        (log,) = self.records.glob("*.jsonl")
        lines = list(map(json.loads, log.read_text().splitlines()))
        self.assertEqual(lines[-1]["type"], "end")
        return lines

    def check_nested(self, program, *plugins):
        """Checks that the sections of each plug-in are inside those of the program."""
        *lines, end = self.lines(program, *plugins)
        chunks = [line for line in lines if line["type"] == "chunk"]
        self.assertEqual(end["dropped"], 0)
        self.assertEqual(len(chunks), len(plugins))
        for chunk in chunks:
            self.assertEqual([section["path"] for section in chunk["sections"]], ["select", "select/jets"])
            self.assertEqual([metric["name"] for metric in chunk["metrics"]], ["jets"])

    def pkg_config(self, module) -> list:
        where = str(next(self.prefix.rglob("crema.pc")).parent)
        return run("pkg-config", "--libs", "--cflags", module, cwd=self.scratch, PKG_CONFIG_PATH=where).split()

    def build(self, name: str, source: str, module: str | None, *options: str) -> pathlib.Path:
        flags = self.pkg_config(module) if module else ["-DCREMA_COMPILED_OUT", *self.pkg_config("crema")[:1]]
        output = self.scratch / name
        run("c++", "-std=c++17", "-O2", *options, CONSUMERS / "plugins" / source, *flags, "-ldl", "-o", output, cwd="/")
        return output

    def test_the_project_of_the_page(self):
        for options in ((), ("-DCMAKE_CXX_FLAGS=-fvisibility=hidden", "-DCMAKE_MODULE_LINKER_FLAGS=-Wl,-z,defs")):
            build = self.scratch / f"build{len(options)}"
            command = ["cmake", "-S", CONSUMERS / "plugins", "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}"]
            run(*command, *options, cwd=self.scratch)
            run("cmake", "--build", build, cwd=self.scratch)
            self.check_nested(build / "framework", build / "libjets.so")

    def test_every_way_to_link_nests_in_one_log(self):
        plugin = ("-shared", "-fPIC", "-Wl,-z,defs")
        plugins = [
            self.build("shared.so", "jets.cc", "crema_cpp", *plugin),
            self.build("shared_hidden.so", "jets.cc", "crema_cpp", *plugin, "-fvisibility=hidden"),
            self.build("static.so", "jets.cc", "crema", *plugin),
            self.build("static_hidden.so", "jets.cc", "crema", *plugin, "-Wl,--exclude-libs,ALL"),
        ]
        programs = [
            self.build("shared", "framework.cc", "crema_cpp"),
            self.build("shared_no_pie", "framework.cc", "crema_cpp", "-no-pie", "-fno-pie"),
            self.build("static", "framework.cc", "crema"),
            self.build("static_exporting", "framework.cc", "crema", "-rdynamic", "-Wl,--gc-sections"),
        ]
        for program in programs:
            for order in (plugins, plugins[::-1]):
                with self.subTest(program=program.name, first=order[0].name):
                    self.check_nested(program, *order)

    def test_plugins_of_a_program_without_crema_have_one_log(self):
        plugin = ("-shared", "-fPIC", "-Wl,-z,defs")
        plugins = [self.build(f"{name}.so", "jets.cc", "crema_cpp", *plugin) for name in ("one", "two")]
        *_, end = self.lines(self.build("without", "framework.cc", None), *plugins)
        self.assertEqual([section["path"] for section in end["sections"]], ["jets"])
        self.assertEqual(end["sections"][0]["count"], 2)

    def test_code_for_another_version_does_not_load(self):
        program = self.build("program", "framework.cc", "crema_cpp")
        script = (CHECKOUT / "sdk/libcrema_cpp.lds").read_text()
        other = self.scratch / "libcrema_cpp.lds"
        other.write_text(re.sub(r"CREMA_CPP_\S+", "CREMA_CPP_99.0", script))
        archive = next(self.prefix.rglob("libcrema.a"))
        flags = [f"-Wl,--version-script={other}", "-Wl,-soname,libcrema_cpp.so", "-Wl,--whole-archive", archive]
        run("c++", "-shared", *flags, "-Wl,--no-whole-archive", "-o", "libcrema_cpp.so", cwd=self.scratch)
        newer = {**os.environ, "LD_PRELOAD": str(self.scratch / "libcrema_cpp.so")}
        done = subprocess.run([program], env=newer, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "version `CREMA_CPP_.*' not found")


class BuildFilesAgreeTest(unittest.TestCase):
    def test_cmake_lists_the_sources_that_bazel_globs(self):
        listed = re.findall(r"^\s+(src/\S+\.cc)$", (CHECKOUT / "sdk/CMakeLists.txt").read_text(), re.MULTILINE)
        query = ["bazel", "query", "--noshow_progress", "--ui_event_filters=-info", "labels(srcs, //sdk:crema)"]
        labels = subprocess.run(query, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        globbed = [label.replace("//sdk:", "") for label in labels if label.endswith(".cc")]
        self.assertEqual(sorted(listed), sorted(globbed))

    def test_cmake_and_pkg_config_know_the_headers_version(self):
        header = (CHECKOUT / "sdk/include/crema/version.h").read_text()
        version = re.search(r'CREMA_VERSION_STRING "(.*)"', header).group(1)
        with tempfile.TemporaryDirectory() as folder:
            run("cmake", "-S", CHECKOUT / "sdk", "-B", folder, "-G", "Ninja", cwd=folder)
            module = pathlib.Path(folder, "crema.pc").read_text()
            config = pathlib.Path(folder, "cremaConfigVersion.cmake").read_text()
        self.assertIn(f"Version: {version}\n", module)
        self.assertIn(f'set(PACKAGE_VERSION "{version}")', config)
        exported = (CHECKOUT / "sdk/libcrema_cpp.lds").read_text()
        self.assertIn(f"\nCREMA_CPP_{version.rpartition('.')[0]} {{\n", exported)


if __name__ == "__main__":
    unittest.main(verbosity=2)
