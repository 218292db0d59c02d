"""The collector's packages: one library and one test program each, and which may use which."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# The packages, from what knows nothing of the others to the program, and which others each uses. Bazel refuses what is
# not said here, and a use of a package that is below. Those with rules of their own say their uses there.
PACKAGES = {
    "idioms": [],
    "compression": ["idioms"],
    "records": ["idioms"],
    "format": ["idioms"],
    "measurement": ["idioms"],
    "engines": ["compression", "idioms", "records"],
    "sources": ["compression", "engines", "format", "idioms", "records"],
    "sources/prmon": ["compression", "idioms", "records", "sources", "sources/process_tree"],
    "sources/process_tree": ["compression", "idioms", "records", "sources"],
    "sources/roastcoffea": ["idioms", "measurement", "records"],
    "files": ["compression", "engines", "idioms", "sources"],
    "symbols": [],
    "metrics": ["compression", "engines", "files", "format", "idioms", "measurement", "records", "sources", "sources/prmon", "sources/process_tree", "symbols"],
    "diagnosis": ["engines", "format", "idioms", "measurement", "metrics", "records"],
    "comparison": ["diagnosis", "format", "idioms", "measurement", "sources"],
    "prediction": ["diagnosis", "format", "idioms", "measurement", "records", "sources"],
    "scaling": ["comparison", "diagnosis", "format", "idioms", "measurement", "prediction"],
    "history": ["format", "idioms", "measurement", "records"],
    "plot_data": ["idioms", "measurement", "metrics", "sources"],
    "exports": ["files", "format", "idioms", "measurement", "metrics", "records", "sources", "sources/prmon", "sources/process_tree", "sources/roastcoffea"],
    "server": ["compression", "diagnosis", "engines", "exports", "format", "idioms", "measurement", "metrics", "records", "sources", "sources/process_tree"],
    "terminal": ["comparison", "diagnosis", "format", "history", "idioms", "measurement", "prediction", "records", "scaling", "server"],
    "render": ["files", "idioms"],
    "charts": ["comparison", "diagnosis", "format", "history", "idioms", "measurement", "plot_data", "prediction", "records", "scaling"],
    "report": ["charts", "comparison", "diagnosis", "exports", "format", "idioms", "measurement", "plot_data", "prediction", "records", "scaling", "terminal"],
    "cli": ["charts", "comparison", "diagnosis", "engines", "exports", "files", "format", "history", "idioms", "measurement", "metrics", "plot_data", "prediction", "records", "render", "report", "scaling", "server", "sources", "sources/process_tree", "sources/roastcoffea", "terminal"],
    "benchmarks": [],
}

# What passes over millions of records is a tenth faster than with -O2.
_OPTIMISED = ["compression", "metrics", "records"]

# These run once for a command, on few rows. g++ needs three quarters of the time with -O1. Not what uses Boost.Math: with
# -O1 it computes constants when the program starts, and ends it where long double has 64 bits, as under valgrind.
_COLD = ["charts", "cli", "comparison", "format", "render", "report", "terminal"]

# The compiler spends most of its time on headers, so it reads up to this many sources of a package as one. Names in
# unnamed namespaces are therefore the package's, not the source's.
_MOST_JOINED = 6

_LIBRARIES = [
    "@com_github_fmtlib_fmt//:fmt",
    "@com_github_nlohmann_json//:json",
    "@com_google_absl//absl/algorithm:container",
    "@com_google_absl//absl/container:flat_hash_map",
    "@com_google_absl//absl/container:flat_hash_set",
    "@com_google_absl//absl/hash",
    "@com_google_absl//absl/numeric:int128",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
    "@com_google_absl//absl/time",
    "@com_google_absl//absl/types:span",
    "@simdjson",
]

# g++ takes the types of joined sources for types of headers, which must not use unnamed namespaces.
_IN_ONE = """#ifndef __clang__
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
"""

def _joined(name, sources, ending):
    """Joins neighbouring sources. Messages of the compiler still name the source and the line."""
    count = (len(sources) + _MOST_JOINED - 1) // _MOST_JOINED
    outs = ["%s_joined_%d%s" % (name, part, ending) for part in range(count)]
    for part, out in enumerate(outs):
        native.genrule(
            name = out.replace(".", "_"),
            srcs = sources[part * len(sources) // count:(part + 1) * len(sources) // count],
            outs = [out],
            cmd = "(printf '%s'; for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; cat $$source; done) >$@" % _IN_ONE,
        )
    return outs

def _optimisation(folder):
    if folder in _OPTIMISED:
        return ["-O3"]
    return ["-O1"] if folder in _COLD else []

def collector_package(name, uses = [], libraries = [], generated = [], fixtures = [], programs = [], test_data = []):
    """All sources below the folder, as a library `name`; all tests as one program, `name_test`.

    Args:
      name: the folder's.
      uses: targets of this repository, beyond those of the collector.
      libraries: beyond those that every package has.
      generated: sources that a rule makes.
      fixtures: headers for tests, also of later packages; they are `name_fixtures`.
      programs: sources outside the library.
      test_data: files that the tests read.
    """
    folder = native.package_name()[len("collector/"):]
    order = [package for package in PACKAGES if "/" not in package]
    later = order[order.index(folder.split("/")[0]):]
    visibility = ["//docs:__pkg__", "//tests:__subpackages__"]
    visibility += ["//collector/%s:__subpackages__" % user for user in later]
    packages = ["//collector/" + package for package in PACKAGES[folder]]
    used_fixtures = ["%s:%s_fixtures" % (package, package.split("/")[-1]) for package in packages]
    cc_library(
        name = name,
        srcs = _joined(name, native.glob(["**/*.cc"], exclude = ["**/*_test.cc"] + programs), ".cc") + generated,
        hdrs = native.glob(["**/*.h"], exclude = fixtures),
        copts = select({"//:optimised": _optimisation(folder), "//conditions:default": []}),
        linkopts = [
            "-ldl",
            "-pthread",
        ],
        visibility = visibility,
        deps = packages + uses + libraries + _LIBRARIES,
    )
    cc_library(
        name = name + "_fixtures",
        testonly = True,
        hdrs = fixtures,
        visibility = visibility,
        deps = [":" + name, "@com_google_googletest//:gtest"] + used_fixtures,
    )
    tests = native.glob(["**/*_test.cc"])

    # The comments of these become tables of docs/reliability.md.
    native.filegroup(name = "test_sources", srcs = tests, visibility = visibility)
    if tests:
        cc_test(
            name = name + "_test",
            size = "medium",
            srcs = _joined(name, tests, "_test.cc"),
            data = test_data,
            deps = [":" + name, ":" + name + "_fixtures", "@com_google_googletest//:gtest_main"],
        )
