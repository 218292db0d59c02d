"""docs/commands.md names every command of the program. The options that it lists for all commands are in the help of
each."""

import pathlib
import re
import subprocess
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = CHECKOUT / "bazel-bin/collector/cli/crema"
PAGE = (CHECKOUT / "docs/commands.md").read_text()


def rows(heading):
    """First cells of the table below a heading; "" is the first table of the page."""
    part = PAGE.split(f"\n## {heading}\n")[1] if heading else PAGE
    return re.findall(r"^\| (.+?) \|", part.split("\n## ")[0], re.MULTILINE)[1:]


def help_of(*command):
    return subprocess.run([PROGRAM, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout


class CommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//collector/cli:crema"]
        subprocess.run(command, cwd=CHECKOUT, check=True)

    def test_every_command_is_named_in_the_order_of_the_help(self):
        in_help = re.findall(r"^  ([a-z]+) ", help_of().split("Subcommands:")[1].split("Example")[0], re.MULTILINE)
        self.assertEqual([f"`crema {name}`" for name in in_help], rows(""))

    def test_options_of_all_commands_are_in_the_help_of_each(self):
        options = [option for row in rows("Options of all commands") for option in re.findall(r"`(-[^`]+)`", row)]
        self.assertIn("--quiet", options)
        for row in rows(""):
            text = help_of(row.strip("`").split()[1])
            for option in options:
                with self.subTest(f"{row} {option}"):
                    self.assertRegex(text, rf"(^|[\s,]){option}\b")

    def test_exit_statuses_are_those_of_the_program(self):
        header = (CHECKOUT / "collector/cli/subcommand.h").read_text()
        statuses = re.findall(r"^inline constexpr int k\w+ = (\d);", header, re.MULTILINE)
        self.assertEqual(statuses, rows("Exit status"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
