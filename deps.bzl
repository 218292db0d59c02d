"""The repositories that crema needs; those that the caller's WORKSPACE defined before are kept."""

load("//third_party:bazel_stubs.bzl", "bazel_stubs")
load("//third_party:root_library.bzl", "root_library")
load("//third_party:system_library.bzl", "SYSTEM_LIBRARIES", "system_library")

def crema_deps():
    """Call it from WORKSPACE, after the repositories you want to provide yourself."""
    if not native.bazel_version:  # only Debian's bazel-bootstrap has no version
        bazel_stubs()
    for name in SYSTEM_LIBRARIES:
        if not native.existing_rule(name):
            system_library(name = name, library = name)
    if not native.existing_rule("root"):
        root_library(name = "root")
