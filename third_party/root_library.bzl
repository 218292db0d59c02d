"""ROOT: the one that ROOTSYS names, else the wheel that `tools/setup root` puts into .cache/root of the checkout."""

_LIBRARIES = ["Core", "Imt", "RIO", "Net", "Hist", "Tree", "TreePlayer", "MathCore", "ROOTVecOps", "ROOTDataFrame", "ROOTNTuple"]

_FOUND = """cc_library(
    name = "root",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

# As in system_library.bzl: what needs it is left out.
_NOT_FOUND = """constraint_setting(name = "installation")

constraint_value(name = "not_installed", constraint_setting = ":installation")

cc_library(name = "root", target_compatible_with = [":not_installed"], visibility = ["//visibility:public"])
"""

def _home(ctx):
    if "ROOTSYS" in ctx.os.environ:
        return ctx.path(ctx.os.environ["ROOTSYS"])
    folder = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".cache").get_child("root").get_child("lib")
    for python in folder.readdir() if folder.exists else []:
        home = python.get_child("site-packages").get_child("ROOT")
        if home.exists:
            return home
    return None

def _impl(ctx):
    home = _home(ctx)
    if home == None or not home.get_child("include").get_child("RVersion.h").exists:
        ctx.file("BUILD", _NOT_FOUND)
        return
    library_folder = str(home.get_child("lib"))

    # The wheel's libfreetype asks for symbols of the wheel's own libpng, which the linker does not see.
    options = ["-L" + library_folder, "-Wl,-rpath," + library_folder, "-Wl,--allow-shlib-undefined"]
    ctx.symlink(home.get_child("include"), "include")
    ctx.file("BUILD", _FOUND.format(linkopts = options + ["-l" + name for name in _LIBRARIES]))

root_library = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["ROOTSYS"],
    local = True,
)
