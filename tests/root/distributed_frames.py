"""Distributed frames on a LocalCluster: distributed_frames.py FOLDER measured|attached OUTPUT.

FOLDER has the files of make_data.cc. `measured`: two processes, and the measurement OUTPUT. `attached`: one process,
which writes its record log into OUTPUT. Prints what ROOT found as one line of JSON.
"""

import contextlib
import io
import json
import os
import sys

import crema_hep
import crema_hep.root
import ROOT
from distributed import Client, LocalCluster

# The program's own clocks at each entry: the wall clock and the thread's CPU time, in nanoseconds.
DECLARATION = """
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <vector>

namespace probe {
int thread = 0;  // a worker has one
std::vector<long> clocks;
inline long Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}
/// 10 us.
bool Spin() {
  const long start = Now(CLOCK_MONOTONIC);
  thread = syscall(SYS_gettid);
  clocks.push_back(start);
  clocks.push_back(Now(CLOCK_THREAD_CPUTIME_ID));
  while (Now(CLOCK_MONOTONIC) - start < 10000) {
  }
  return true;
}
}  // namespace probe
"""
TREES = [f"{sys.argv[1]}/tree{i}.root" for i in range(3)]
NTUPLES = [f"{sys.argv[1]}/ntuple{i}.root" for i in range(3)]


def declare():
    assert ROOT.gInterpreter.Declare(DECLARATION)


def take_clocks():
    """The thread, and its clocks at each entry since the last call: wall, CPU, wall, CPU ..."""
    taken = list(ROOT.probe.clocks)
    ROOT.probe.clocks.clear()
    return ROOT.probe.thread, taken


def bytes_read(client):
    """The values of ROOT's own counters, for all workers."""
    return sum(client.run(lambda: ROOT.TFile.GetFileBytesRead()).values())


def measured(output):
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        measurement = crema_hep.MetricsCollector(client)
        found = {}
        # ROOT shows Dask's progress bar
        with contextlib.redirect_stdout(io.StringIO()), measurement:
            trees = ROOT.RDataFrame("Events", TREES, executor=client, npartitions=4)
            crema_hep.root.track(trees, "trees")
            positive = trees.Filter("x > 0", "positive")
            count, total = positive.Count(), positive.Sum("y")
            before = bytes_read(client)
            found["positive"], found["sum"] = count.GetValue(), total.GetValue()
            found["bytes"] = bytes_read(client) - before
            del positive, count, total  # docs/root.md: a named filter without an action may crash ROOT
            found["again"] = trees.Count().GetValue()
            ntuples = ROOT.RDataFrame("Events", NTUPLES, executor=client, npartitions=2)
            tracked = crema_hep.root.track(ntuples.Filter("x > 0"), "ntuples")
            found["ntuples"] = ntuples.Count().GetValue()
            declare()  # ROOT compiles filters here, too
            client.run(declare)
            for name, files in (("slow trees", TREES), ("slow ntuples", NTUPLES)):
                slow = ROOT.RDataFrame("Events", files, executor=client, npartitions=4)
                crema_hep.root.track(slow, name)
                assert slow.Filter("probe::Spin()").Count().GetValue() == found["again"]
                found[name] = dict(client.run(take_clocks).values())
        path = measurement.save_measurement(*os.path.split(output))
    print(json.dumps({**found, "tracked": repr(tracked), "path": str(path)}))


def attached(output):
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        crema_hep.attach(client, directory=output)
        with contextlib.redirect_stdout(io.StringIO()):
            trees = ROOT.RDataFrame("Events", TREES, executor=client, npartitions=6)
            crema_hep.root.track(trees, "trees")
            positive = trees.Filter("x > 0", "positive").Count().GetValue()
    print(json.dumps({"positive": positive}))


if __name__ == "__main__":
    {"measured": measured, "attached": attached}[sys.argv[2]](sys.argv[3])
