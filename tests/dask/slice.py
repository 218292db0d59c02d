import json, os, sys, time
sys.path.insert(0, os.environ["CREMA_TEST_PYTHON"])
from distributed import Client, LocalCluster, wait
import recording_tasks
from crema_hep.dask_backend import attach, get_span_metrics
from distributed import span
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        a = attach(client, directory=sys.argv[1])
        print(a.refused)
        a.start()
        t=time.time()
        with span("run") as sid:
            f = client.map(recording_tasks.record_chunk, range(400), seconds=0.01, around=0.005, key="record_chunk")
            g = client.map(recording_tasks.plain, range(100), key="plain")
            wait(f+g)
        print("run", time.time()-t)
        t=time.time(); print(len(get_span_metrics(client, {"id": sid}))); print(time.time()-t)
        t=time.time(); a.stop(); print("stop", time.time()-t, a.silent)
        print(a.save(sys.argv[2]))
        print(cluster.dashboard_link)
