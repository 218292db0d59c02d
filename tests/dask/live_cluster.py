"""A cluster that has run 100 chunks. Prints the address of its dashboard, and stays until it reads a line."""

import os
import sys

sys.path.insert(0, os.environ["CREMA_TEST_PYTHON"])

from crema_hep.dask_backend import attach  # noqa: E402
from distributed import Client, LocalCluster, wait  # noqa: E402
from recording_tasks import record_chunk  # noqa: E402

if __name__ == "__main__":
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        attachment = attach(client, directory=sys.argv[1])
        wait(client.map(record_chunk, range(100), key="record_chunk"))
        print(cluster.dashboard_link.split("/")[2], flush=True)
        sys.stdin.readline()
