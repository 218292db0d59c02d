"""The collector's packages: one library and one test program each, and which may use which."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

# From what knows nothing of the others to the program. A package may use those before it; Bazel refuses the others.
PACKAGES = [
    "compression",
    "records",
    "appearance",
    "document",
    "engines",
    "sources",
    "output",
    "symbols",
    "metrics",
    "insight",
    "prediction",
    "scaling",
    "history",
    "detail",
    "exports",
    "server",
    "writers",
    "pictures",
    "charts",
    "report",
    "cli",
    "benchmarks",
]

_LIBRARIES = [
    "@com_github_fmtlib_fmt//:fmt",
    "@com_github_nlohmann_json//:json",
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

def collector_package(name, uses = [], libraries = [], generated = [], fixtures = [], programs = [], test_data = []):
    """All sources below the folder, as a library `name`; all tests as one program, `name_test`.

    Args:
      name: the folder's.
      uses: targets of this repository.
      libraries: beyond those that every package has.
      generated: sources that a rule makes.
      fixtures: headers for tests, also of later packages; they are `name_fixtures`.
      programs: sources that are no part of the library.
      test_data: files that the tests read.
    """
    package = native.package_name().split("/")[1]
    later = PACKAGES[PACKAGES.index(package):]
    visibility = ["//docs:__pkg__", "//tests:__subpackages__"]
    visibility += ["//collector/%s:__subpackages__" % user for user in later]
    used_fixtures = [
        "%s:%s_fixtures" % (use, use.split("/")[-1])
        for use in uses
        if use.startswith("//collector/")
    ]
    cc_library(
        name = name,
        srcs = native.glob(["**/*.cc"], exclude = ["**/*_test.cc"] + programs) + generated,
        hdrs = native.glob(["**/*.h"], exclude = fixtures),
        linkopts = ["-pthread"],
        visibility = visibility,
        deps = uses + libraries + _LIBRARIES,
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
            srcs = tests,
            data = test_data,
            deps = [":" + name, ":" + name + "_fixtures", "@com_google_googletest//:gtest_main"],
        )
