"""Stand-ins for what Bazel 4 downloads for itself, so that Debian's bazel-bootstrap works without a download."""

_CC = ["cc_binary", "cc_import", "cc_library", "cc_proto_library", "cc_test", "cc_toolchain", "cc_toolchain_suite", "objc_library"]
_JAVA = ["java_binary", "java_import", "java_library", "java_proto_library", "java_runtime", "java_test", "java_toolchain"]
_EMPTY = """filegroup(name = "{}", visibility = ["//visibility:public"])\n"""

def _defs(rules):
    return "\n".join(["%s = native.%s" % (r, r) for r in rules])

_FILES = {
    "remote_coverage_tools": {"BUILD": _EMPTY.format("coverage_report_generator") + _EMPTY.format("lcov_merger")},
    "rules_cc": {
        "cc/BUILD": "",
        "cc/defs.bzl": _defs(_CC),
    },
    "rules_java": {
        "java/BUILD": "",
        "java/defs.bzl": _defs(_JAVA),
    },
}

def _impl(ctx):
    for path, text in _FILES[ctx.attr.stub].items():
        ctx.file(path, text)

_stub = repository_rule(
    implementation = _impl,
    attrs = {"stub": attr.string(mandatory = True)},
)

def bazel_stubs():
    """Defines the stubs that the caller's WORKSPACE does not already define."""
    for name in _FILES:
        if not native.existing_rule(name):
            _stub(name = name, stub = name)
