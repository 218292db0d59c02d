"""A libFuzzer target, and the test that replays its corpus."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

def fuzz_target(name, corpus, deps):
    """`name`, the fuzzer (clang only: tools/fuzz), and `name`_corpus_test, which runs the same code once on each input.

    Args:
      name: of the target and of its source file, which defines LLVMFuzzerTestOneInput
      corpus: the folder of inputs
      deps: of the source file, beyond those that all have
    """
    cc_library(
        name = name + "_input",
        testonly = True,
        srcs = [name + ".cc"],
        alwayslink = True,
        deps = deps + [
            ":scratch_directory",
            "@com_github_nlohmann_json//:json",
            "@com_google_absl//absl/status:statusor",
        ],
    )
    cc_binary(
        name = name,
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = [":" + name + "_input"],
    )
    cc_test(
        name = name + "_corpus_test",
        size = "small",
        args = ["$(rootpath %s)" % corpus],
        data = [corpus],
        deps = [
            ":" + name + "_input",
            ":replay",
        ],
    )
