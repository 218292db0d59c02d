"""A test of the SDK that reads what it recorded."""

load("@rules_cc//cc:defs.bzl", "cc_test")

# Tags of tests that look at memory, threads or calls which these sanitizers have of their own.
BESIDE_SANITIZERS = ["no-asan", "no-tsan"]

def recorded_test(name, size = "medium", srcs = [], deps = [], **kwargs):
    """A test with what all tests of the SDK share.

    Args:
      name: of the test; its source is `name.cc`.
      size: as of cc_test. Most take a second; under sanitizers, and on a busy machine, more.
      srcs: further ones.
      deps: what only this test needs.
      **kwargs: as of cc_test.
    """
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"] + srcs,
        deps = deps + [
            "//sdk:crema",
            "//sdk/tests:recorded",
            "@com_google_googletest//:gtest_main",
        ],
        **kwargs
    )
