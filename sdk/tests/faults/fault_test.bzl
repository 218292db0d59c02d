"""A test in which a program is disturbed once without recording, and once with it."""

load("//sdk/tests:recorded_test.bzl", "recorded_test")

def fault_test(name, deps = [], **kwargs):
    """A test of a fault.

    Args:
      name: of the test; its source is `name.cc`.
      deps: what only this test needs.
      **kwargs: as of recorded_test.
    """
    recorded_test(
        name = name,
        srcs = ["record_chunks.h"],
        deps = deps + [":host_program"],
        **kwargs
    )
