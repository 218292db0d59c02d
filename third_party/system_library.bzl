"""Libraries from the distribution's -dev packages, under the repository names that their Bazel users know."""

# repository -> package -> target -> what it needs: pkg-config modules, -l flags, headers that must exist
SYSTEM_LIBRARIES = {
    "boost": {"": {"boost": "/usr/include/boost/beast.hpp"}},
    "cli11": {"": {"cli11": "/usr/include/CLI/CLI.hpp"}},
    "com_github_fmtlib_fmt": {"": {"fmt": "fmt"}},
    "com_github_google_benchmark": {"": {
        "benchmark": "benchmark",
        "benchmark_main": "-lbenchmark_main benchmark",
    }},
    "com_github_nlohmann_json": {"": {"json": "nlohmann_json"}},
    "com_google_absl": {
        "absl/algorithm": {"container": "absl_algorithm_container"},
        "absl/base": {"core_headers": "absl_core_headers"},
        "absl/container": {
            "btree": "absl_btree",
            "flat_hash_map": "absl_flat_hash_map",
            "flat_hash_set": "absl_flat_hash_set",
            "inlined_vector": "absl_inlined_vector",
        },
        "absl/hash": {"hash": "absl_hash"},
        "absl/numeric": {"int128": "absl_int128"},
        "absl/status": {
            "status": "absl_status",
            "statusor": "absl_statusor",
        },
        "absl/strings": {
            "strings": "absl_strings",
        },
        "absl/time": {"time": "absl_time"},
        "absl/types": {"span": "absl_span"},
    },
    "com_google_googletest": {"": {
        "gtest": "gmock gtest",
        "gtest_main": "gmock_main gmock gtest",
    }},
    # targets that need a library that is not installed are skipped, so that the rest builds without it
    "fastjet": {"": {"fastjet": "-lfastjet /usr/include/fastjet/ClusterSequence.hh"}},
    "hepmc3": {"": {"hepmc3": "-lHepMC3 /usr/include/HepMC3/GenEvent.h"}},
    "onetbb": {"": {"tbb": "tbb"}},
    "simdjson": {"": {"simdjson": "simdjson"}},
    "zlib": {"": {"zlib": "zlib"}},
    "zstd": {"": {"zstd": "libzstd"}},
}

# No platform has this constraint. Debian's @platforms is older than @platforms//:incompatible, which is the same.
_NOT_INSTALLED = """constraint_setting(name = "installation")
constraint_value(name = "not_installed", constraint_setting = ":installation")
"""

def _target(ctx, name, needs):
    linkopts, missing = [], []
    for need in needs.split(" "):
        if need.startswith("-"):
            linkopts.append(need)
        elif need.startswith("/"):
            missing += [] if ctx.path(need).exists else [need]
        else:
            result = ctx.execute(["pkg-config", "--libs", need])
            missing += [need] if result.return_code else []
            linkopts += [f for f in result.stdout.strip().split(" ") if f.startswith("-")]
    if missing:
        # buildifier: disable=print
        print("%s:%s: not installed: %s" % (ctx.name, name, ", ".join(missing)))
    return 'cc_library(name = "{}", linkopts = {}, target_compatible_with = {}, visibility = ["//visibility:public"])\n'.format(
        name,
        linkopts,
        [":not_installed"] if missing else [],
    )

def _impl(ctx):
    for package, targets in SYSTEM_LIBRARIES[ctx.attr.library].items():
        text = _NOT_INSTALLED + "".join([_target(ctx, name, needs) for name, needs in targets.items()])
        ctx.file(package + "/BUILD" if package else "BUILD", text)

system_library = repository_rule(
    implementation = _impl,
    attrs = {"library": attr.string(mandatory = True)},
    configure = True,
    local = True,
)
