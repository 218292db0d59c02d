"""Measures what a task costs in the worker's plug-in, between other work: python tests/dask/task_cost.py
(docs/dask_reference.md).

The control is a plug-in whose `transition` does nothing, timed in the same way.
"""

import sys
import time

from crema_hep import attach
from distributed import Client, LocalCluster, WorkerPlugin

TASKS = 2000


class Control(WorkerPlugin):
    name = "control"

    def transition(self, key, start, finish, **kwargs):
        pass


def nothing(number):
    return number


def time_plugins(dask_worker):
    spent = dask_worker.spent = {}
    for name in ("crema", "control"):
        plugin = dask_worker.plugins[name]

        def timed(*arguments, transition=plugin.transition, name=name, **named):
            begin_ns = time.thread_time_ns()
            transition(*arguments, **named)
            spent[name] = spent.get(name, 0) + time.thread_time_ns() - begin_ns

        plugin.transition = timed


def spent_on(dask_worker):
    return dask_worker.spent


def main() -> int:
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(nothing, range(500)))
        client.register_plugin(Control())
        attach(client).start()
        client.run(time_plugins)
        client.gather(client.map(nothing, range(1000, 1000 + TASKS)))
        (spent,) = client.run(spent_on).values()
    for name, spent_ns in spent.items():
        print(f"{name}: {spent_ns / TASKS / 1e3:.1f} us of CPU a task")
    return 0


if __name__ == "__main__":
    sys.exit(main())
