"""Distributed frames on a LocalCluster of two processes: distributed_frames.py FOLDER MEASUREMENT.

FOLDER has the files of make_data.cc. Prints what ROOT found as one line of JSON.
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


def main():
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
        path = measurement.save_measurement(*os.path.split(sys.argv[2]))
    print(json.dumps({**found, "tracked": repr(tracked), "path": str(path)}))


if __name__ == "__main__":
    main()
