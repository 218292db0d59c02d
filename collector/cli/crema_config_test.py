"""`crema config`: the settings of an SDK beside the program, what shells complete, manual pages; and `crema` alone."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CREMA = pathlib.Path(__file__).absolute().parent / "crema"
MODULE = """prefix=${pcfiledir}/../..
includedir=${prefix}/include
libdir=${prefix}/lib

Name: NAME
Cflags: -I${includedir}
Libs: -L${libdir} -lNAME
"""
IN_ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1="
zpty -w shell "autoload -Uz compinit && compinit -u -d $PWD/dump; source $PWD/_crema"
zpty -w shell "LISTMAX=1000; unsetopt auto_menu beep"
zpty -w shell "zle-line-init() { print -n rea''dy }; zle -N zle-line-init"  # the editor has the terminal then
zpty -r shell line '*ready*'
zpty -w -n shell "$1"$'\\t\\t\\C-u'
zpty -w shell "echo do''ne"
zpty -r shell line '*done*'
print -r -- "$line"
"""


def run(*command, **named):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False, **named)


def commands():
    """The names in the help."""
    listed = run(CREMA, "--help").stdout.split("Subcommands:")[1].split("Example")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


class Config(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder)

    def install(self, library_directory):
        """Makes the part of CMake's prefix that the program looks at. Returns the prefix's program."""
        library = self.folder / library_directory
        for file in ("cmake/crema/cremaConfig.cmake", "pkgconfig/crema.pc", "pkgconfig/crema_c.pc"):
            (library / file).parent.mkdir(parents=True, exist_ok=True)
            up = "/".join([".."] * (library_directory.count("/") + 2))
            text = MODULE.replace("NAME", pathlib.Path(file).stem).replace("../..", up)
            (library / file).write_text(text.replace("/lib\n", f"/{library_directory}\n"))
        (self.folder / "bin").mkdir()
        shutil.copy(CREMA, self.folder / "bin/crema")
        return self.folder / "bin/crema"

    def config(self, program, *options):
        done = run(program, "config", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_each_setting_is_of_the_prefix_of_the_program(self):
        for library in ("lib", "lib64", "lib/x86_64-linux-gnu"):
            with self.subTest(library):
                program = self.install(library)
                self.assertEqual(self.config(program, "--prefix"), f"{self.folder}\n")
                self.assertEqual(self.config(program, "--include-dir"), f"{self.folder}/include\n")
                self.assertEqual(self.config(program, "--cmake-dir"), f"{self.folder}/{library}/cmake/crema\n")
                self.assertEqual(self.config(program, "--pkg-config-dir"), f"{self.folder}/{library}/pkgconfig\n")
                shutil.rmtree(self.folder / "lib", ignore_errors=True)
                shutil.rmtree(self.folder / "lib64", ignore_errors=True)
                shutil.rmtree(self.folder / "bin")

    def test_the_macro_for_root_has_the_headers_and_the_library(self):
        macro = self.config(self.install("lib64"), "--root-macro")
        self.assertIn(f'gInterpreter->AddIncludePath("{self.folder}/include");', macro)
        self.assertIn(f'gSystem->Load("{self.folder}/lib64/libcrema_cpp.so");', macro)

    def test_flags_are_those_that_the_module_says(self):
        program = self.install("lib")
        up = f"{self.folder}/lib/pkgconfig/../.."
        self.assertEqual(self.config(program, "--libs", "--cflags"), f"-I{up}/include\n-L{up}/lib -lcrema\n")
        self.assertEqual(self.config(program, "--c", "--libs"), f"-L{up}/lib -lcrema_c\n")

    def test_all_settings_are_printed_where_none_is_named(self):
        program = self.install("lib")
        settings, guards = self.config(program).split("\n\n")
        listed = dict(line.split(": ") for line in settings.splitlines())
        document = json.loads(self.config(program, "--json"))
        self.assertEqual((document.pop("schema"), document.pop("version")[:2]), ("crema.config/1", "0."))
        self.assertEqual(listed, document)
        for setting, value in listed.items():
            self.assertEqual(self.config(program, f"--{setting}"), f"{value}\n")
        for line in ('#include "crema/crema.h"', "crema::TrackMetrics chunk(", "crema::TrackDataFrame(frame, "):
            self.assertIn(line, guards)

    def test_a_link_to_the_program_is_followed(self):
        program = self.install("lib")
        with tempfile.TemporaryDirectory() as elsewhere:
            link = pathlib.Path(elsewhere, "crema")
            link.symlink_to(program)
            self.assertEqual(self.config(link, "--prefix"), f"{self.folder}\n")

    def test_without_an_sdk_one_line_says_what_to_do(self):
        program = self.install("lib")
        shutil.rmtree(self.folder / "lib")
        alone = shutil.copy(CREMA, self.folder / "crema")
        for command in ((program, "config"), (program, "config", "--libs"), (alone, "config", "--prefix")):
            done = run(*command)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(
                done.stderr, r"^crema: no SDK was installed together with [^\n]* install the wheel [^\n]*\n$"
            )

    def test_a_damaged_module_is_named(self):
        program = self.install("lib")
        (self.folder / "lib/pkgconfig/crema.pc").write_text("Name: crema\n")
        done = run(program, "config", "--libs")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^crema: [^\n]*crema\.pc: has no Cflags[^\n]*\n$")


class Completions(unittest.TestCase):
    """Asks the shells themselves what they would complete."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "measured.json").touch()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TERM": "vt100", "LC_ALL": "C.UTF-8"}

    def script(self, shell, name):
        if shutil.which(shell) is None:
            self.skipTest(f"no {shell}: tools/setup test")
        done = run(CREMA, "config", "--completion", shell)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (self.folder / name).write_text(done.stdout)

    def in_bash(self, *words):
        text = (
            'source ./crema.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _crema; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = run("bash", "-c", text, "bash", *words, cwd=self.folder, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash(self):
        self.script("bash", "crema.bash")
        self.assertEqual(self.in_bash("crema", "")[: len(commands())], commands())
        self.assertEqual(self.in_bash("crema", "co"), ["collect", "compare", "config"])
        self.assertEqual(self.in_bash("crema", "show", "x", "--color", ""), ["auto", "always", "never"])
        self.assertEqual(self.in_bash("crema", "show", "--met"), ["--metrics-by-dataset", "--metric"][::-1])
        self.assertEqual(self.in_bash("crema", "show", "meas"), [])  # bash itself completes names of files
        self.assertIn("sort", self.in_bash("crema", "run", "-o", "x", "--", "sor"))
        self.assertEqual(self.in_bash("crema", "run", "--", "ls", "--co"), [])  # options of another command

    def in_fish(self, line):
        done = run("fish", "-c", f"source crema.fish; complete -C '{line}'", cwd=self.folder, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [shown.split("\t")[0] for shown in done.stdout.splitlines()]

    def test_fish(self):
        self.script("fish", "crema.fish")
        self.assertEqual(sorted(self.in_fish("crema ")), sorted(commands()))
        self.assertEqual(sorted(self.in_fish("crema show x --color ")), ["always", "auto", "never"])
        self.assertIn("--metric", self.in_fish("crema show --met"))
        self.assertNotIn("--pid", self.in_fish("crema show --p"))
        self.assertIn("measured.json", self.in_fish("crema show meas"))

    def in_zsh(self, line):
        done = run("zsh", "-f", "-c", IN_ZSH, "zsh", line, cwd=self.folder, env=self.environment)
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\0\r]", "", done.stdout)  # the terminal's own

    def test_zsh(self):
        self.script("zsh", "_crema")
        listed = self.in_zsh("crema ")
        for name in commands():
            self.assertRegex(listed, rf"(?m)^{name} +-- ")
        self.assertRegex(self.in_zsh("crema show x --color "), r"always +auto +never")
        self.assertIn("--metrics-by-dataset", self.in_zsh("crema show --met"))
        self.assertIn("measured.json", self.in_zsh("crema show meas"))

    def test_an_unknown_shell_is_wrong_usage(self):
        done = run(CREMA, "config", "--completion", "tcsh")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^crema: [^\n]*tcsh[^\n]*\n$")


class Share(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.share = pathlib.Path(folder.name, "share")
        done = run(CREMA, "config", "--write-share", self.share)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_completions_lie_where_shells_look(self):
        for shell, path in (
            ("bash", "bash-completion/completions/crema"),
            ("zsh", "zsh/site-functions/_crema"),
            ("fish", "fish/vendor_completions.d/crema.fish"),
        ):
            printed = run(CREMA, "config", "--completion", shell).stdout
            self.assertEqual((self.share / path).read_text(), printed)

    def test_there_is_a_manual_page_for_each_command(self):
        pages = {page.name for page in (self.share / "man/man1").iterdir()}
        self.assertEqual(pages, {"crema.1", *(f"crema-{name}.1" for name in commands())})

    def test_pages_say_what_the_help_says(self):
        if shutil.which("mandoc") is None:
            self.skipTest("no mandoc: tools/setup test")
        for name in commands():
            page = self.share / f"man/man1/crema-{name}.1"
            lint = run("mandoc", "-T", "lint", "-W", "error", page)
            self.assertEqual((lint.returncode, lint.stdout), (0, ""))
            shown = run("mandoc", "-T", "utf8", "-O", "width=1000", page).stdout
            shown = " ".join(re.sub(r".\x08", "", shown).replace("‐", "-").split())
            output = run(CREMA, name, "--help").stdout
            self.assertIn(output.splitlines()[0], shown)
            self.assertIn(" ".join(output.split("Usage: ")[1].splitlines()[0].split()), shown)
            for option in re.findall(r"^  (-[^ ]+)", output, re.MULTILINE):
                self.assertIn(option.replace(",", ", "), shown)

    def test_a_directory_that_cannot_be_made_is_named(self):
        (self.share / "file").touch()
        done = run(CREMA, "config", "--write-share", self.share / "file")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^crema: [^\n]*file/man/man1[^\n]*\n$")


class Alone(unittest.TestCase):
    def test_the_program_alone_says_what_to_type(self):
        done = run(CREMA)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        named = re.findall(r"crema ([a-z]+)", done.stderr)
        self.assertEqual(named[:1] + sorted(set(named) - set(commands())), ["says", "says"])
        self.assertIn("crema run -- ", done.stderr)
        self.assertIn("crema --help", done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 10)


if __name__ == "__main__":
    unittest.main(verbosity=2)
