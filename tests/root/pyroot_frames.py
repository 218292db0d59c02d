"""Event loops of PyROOT with crema_hep: pyroot_frames.py FOLDER, which has the files of make_data.cc.

All cases run in one process, because ROOT's interpreter then compiles the guards only once. Prints one line of JSON for
each case.
"""

import json
import signal
import sys
import time

import crema_hep
import crema_hep.root
import ROOT

FOLDER = sys.argv[1]
TREES = [f"{FOLDER}/tree{i}.root" for i in range(3)]
NTUPLES = [f"{FOLDER}/ntuple{i}.root" for i in range(3)]


def say(case, **results):
    print(json.dumps({"case": case, **results}), flush=True)


def one_loop(dataset, files):
    events = ROOT.RDataFrame("Events", files)
    start_ns = time.thread_time_ns()
    tracked = crema_hep.root.track(events, dataset)
    tracked.cpu_ns = time.thread_time_ns() - start_ns
    passed = events.Filter("x > 0", "positive").Filter("y > 1", "large").Count()
    total = events.Sum("y")
    say(dataset, passed=passed.GetValue(), sum=round(total.GetValue(), 6))
    return tracked


def several_loops():
    events = ROOT.RDataFrame("Events", TREES[0])
    crema_hep.root.track(events, "loops")
    say("loops", sums=[events.Sum("x").GetValue() for _ in range(2)])


def node_outlives_frame_and_handle():
    def make():
        events = ROOT.RDataFrame("Events", TREES[0])
        crema_hep.root.track(events, "outlived")
        return events.Filter("x > 0")

    say("outlived", count=make().Count().GetValue())


def small_chunks():
    events = ROOT.RDataFrame("Events", TREES[0])
    tracked = crema_hep.root.track(events.Filter("x > 0"), "small", pass_="again", entries_per_chunk=20_000)
    say("small", count=events.Count().GetValue())
    return tracked


def missing_column():
    events = ROOT.RDataFrame("Events", [TREES[0], f"{FOLDER}/no_y.root"])
    crema_hep.root.track(events, "missing")
    total = events.Sum["double"]("y")
    try:
        say("missing", sum=round(total.GetValue(), 6))
    except Exception as error:
        say("missing", error=type(error).__name__)


def interrupted():
    """Interrupts by Ctrl-C, which Python handles after ROOT's loop."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes its background jobs ignore it
    ROOT.gInterpreter.Declare("""
        #include <csignal>
        bool Interrupt(double) { static long calls = 0; if (++calls == 1000) std::raise(SIGINT); return true; }
    """)
    events = ROOT.RDataFrame("Events", TREES[:2])
    crema_hep.root.track(events, "interrupted")
    count = events.Filter("Interrupt(x)").Count()
    try:
        count.GetValue()
        while True:  # at the latest here
            time.sleep(0.01)
    except KeyboardInterrupt:
        say("interrupted", count=count.GetValue())  # of the loop that has run


def no_frame():
    try:
        crema_hep.root.track([1, 2], "nothing")
        say("no frame")
    except TypeError as error:
        say("no frame", error=str(error))


def main():
    first = one_loop("trees", TREES)
    second = one_loop("ntuples", NTUPLES)
    print(repr(first), repr(second), file=sys.stderr)
    say(
        "compiled",
        seconds=first.compile_seconds,
        again=second.compile_seconds,
        cpu_ns=first.cpu_ns,
        knows_crema=hasattr(ROOT, "crema"),
    )
    several_loops()
    node_outlives_frame_and_handle()
    kept = small_chunks()
    missing_column()
    interrupted()
    no_frame()
    ROOT.EnableImplicitMT(2)
    threads = one_loop("two threads", TREES)
    say("end", kept=[kept is not None, threads is not None])  # handles that live until the interpreter ends


main()
