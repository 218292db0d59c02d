"""docs/design.md, "Packages", agrees with the BUILD files and the imports of crema_hep, and has their order of
dependence."""

import ast
import pathlib
import re
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = (CHECKOUT / "docs/design.md").read_text().split("\n## Packages\n")[1].split("\n## ")[0]
BAZEL = (CHECKOUT / "collector/package.bzl").read_text()
RULE = re.compile(r"^(\w+)\(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
VISIBILITY = re.compile(r"visibility = \[.*?\]", re.DOTALL)
TEST_DATA = re.compile(r"test_data = .*?(?=\n    \w+ = |\Z)", re.DOTALL)
INCLUDED = re.compile(r'^#include "(collector/\w+)/', re.MULTILINE)
LABEL = re.compile(r'"//([^":]+)[^"]*"')

COLD = ast.literal_eval(re.search(r"^_COLD = (\[.*?\])", BAZEL, re.MULTILINE)[1])
# {package of the collector: packages that it uses}, as Bazel enforces it
COLLECTOR = ast.literal_eval(re.search(r"^PACKAGES = (\{.*?^\})", BAZEL, re.MULTILINE | re.DOTALL)[1])


def table(header):
    """The rows of the table with this header, as lists of cells."""
    lines = PACKAGES.split(f"\n{header}\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def is_of_tests(folder):
    return re.search(r"(^|/)tests(/|$)", folder) is not None


def builds():
    """(folder, text) of the BUILD files whose folders have to be in the table."""
    for top in ("sdk", "collector", "third_party/page"):
        for build in (CHECKOUT / top).rglob("BUILD"):
            folder = str(build.parent.relative_to(CHECKOUT))
            if not is_of_tests(folder):
                yield folder, build.read_text()


def package_of(folder, packages):
    """The innermost of these packages that contains a folder; the folder itself if none does."""
    holding = [name for name in packages if f"{folder}/".startswith(f"{name}/")]
    return max(holding, key=len, default=folder)


def dependencies(packages):
    """{package: packages in the deps of its targets, without tests}, from the BUILD files."""
    used = {name: set() for name in packages}
    for name, others in COLLECTOR.items():
        package = package_of(f"collector/{name}", packages)
        used[package] |= {package_of(f"collector/{other}", packages) for other in others} - {package}
    for folder, text in builds():
        package = package_of(folder, packages)
        for kind, body in RULE.findall(text):
            if kind.endswith("_test") or "testonly = True" in body:
                continue
            others = {
                package_of(label, packages) for label in LABEL.findall(TEST_DATA.sub("", VISIBILITY.sub("", body)))
            }
            used.setdefault(package, set()).update(others - {package})
    return used


class PackagesTest(unittest.TestCase):
    def setUp(self):
        self.uses = {name.strip("`"): uses for name, _, uses in table("| package | what it is | uses |")}
        self.said = {name: set(re.findall(r"`([^`]+)`", uses)) for name, uses in self.uses.items()}

    def test_what_uses_boost_math_is_not_compiled_with_o1(self):
        """With -O1, Boost.Math computes constants when the program starts (collector/package.bzl)."""
        sources = [path for name in COLD for path in (CHECKOUT / "collector" / name).rglob("*.[ch]*")]
        self.assertGreater(len(sources), len(COLD))
        self.assertEqual([path.name for path in sources if "boost/math" in path.read_text()], [])

    def test_a_package_uses_what_its_build_files_say(self):
        for package, used in dependencies(self.said).items():
            with self.subTest(package):
                self.assertEqual(used, self.said.get(package, "not in the table"))

    def test_a_package_uses_what_its_sources_include(self):
        """Every BUILD file names exactly the packages of the collector that its sources and tests include."""
        for package in (name for name in self.said if name.startswith("collector/")):
            sources = [path for path in (CHECKOUT / package).rglob("*.*") if path.suffix in (".cc", ".h")]
            included = {name for path in sources for name in INCLUDED.findall(path.read_text())} - {package}
            with self.subTest(package):
                self.assertEqual({name for name in self.said[package] if name.startswith("collector/")}, included)

    def test_folders_inside_a_package_are_named(self):
        inner = {folder.split("/")[2] for folder, _ in builds() if folder.count("/") == 2}
        self.assertEqual(inner - set(re.findall(r"`(\w+)/`", PACKAGES)), set())

    def test_no_package_uses_one_that_stands_below(self):
        order = list(self.said)
        for package, used in self.said.items():
            with self.subTest(package):
                self.assertEqual({name for name in used if order.index(name) > order.index(package)}, set())

    def test_the_order_is_that_which_bazel_enforces(self):
        enforced = [name for name in COLLECTOR if "/" not in name]
        self.assertEqual([name.split("/")[1] for name in self.said if name.startswith("collector/")], enforced)


def modules_imported(tree):
    """The modules of crema_hep that a module imports, also those that its functions import."""
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            package, _, module = ("crema_hep." * node.level + (node.module or "")).strip(".").partition(".")
            if package == "crema_hep":
                used.update([module] if module else [alias.name for alias in node.names])
    return used


class ModulesTest(unittest.TestCase):
    def test_no_module_imports_one_that_stands_below(self):
        folder = CHECKOUT / "python/crema_hep"
        order = [name for row in table("| modules | what they are |") for name in re.findall(r"`(\w+)`", row[0])]
        self.assertEqual(sorted(order), sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__"))
        for position, name in enumerate(order):
            used = modules_imported(ast.parse((folder / f"{name}.py").read_text())) - {name}
            with self.subTest(name):
                self.assertEqual(used - set(order[:position]), set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
