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

TREES = [f"{sys.argv[1]}/tree{i}.root" for i in range(3)]
NTUPLES = [f"{sys.argv[1]}/ntuple{i}.root" for i in range(3)]


def measured(output):
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        measurement = crema_hep.MetricsCollector(client)
        found = {}
        # ROOT shows Dask's progress bar
        with contextlib.redirect_stdout(io.StringIO()), measurement:
            trees = ROOT.RDataFrame("Events", TREES, executor=client, npartitions=4)
            crema_hep.root.track(trees, "trees")
            found["positive"] = trees.Filter("x > 0", "positive").Count().GetValue()
            found["again"] = trees.Count().GetValue()
            ntuples = ROOT.RDataFrame("Events", NTUPLES, executor=client, npartitions=2)
            tracked = crema_hep.root.track(ntuples.Filter("x > 0"), "ntuples")
            found["ntuples"] = ntuples.Count().GetValue()
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
