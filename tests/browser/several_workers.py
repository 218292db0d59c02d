"""A job of several processes that record chunks, until its directory holds a file `stop`. For tests that watch it.

several_workers.py DIRECTORY WORKERS: writes the workers' process ids into DIRECTORY/pids. If a worker is killed, the
others do its work, and the job succeeds.
"""

import pathlib
import subprocess
import sys
import time

EVENTS = 100  # of a chunk


def work(directory, index):
    import crema_hep

    number = 0
    while not (directory / "stop").exists():
        first = number * EVENTS
        with crema_hep.track_metrics(
            f"data{index % 2}", f"events{index}.root", first, first + EVENTS, events=EVENTS
        ) as chunk:
            chunk.add_bytes_read(1000 * EVENTS)
            time.sleep(0.05)
        number += 1


def main(directory, workers):
    jobs = [subprocess.Popen([sys.executable, __file__, directory, "work", str(i)]) for i in range(workers)]
    (directory / "pids.new").write_text(" ".join(str(job.pid) for job in jobs))
    (directory / "pids.new").rename(directory / "pids")
    for job in jobs:
        job.wait()


if __name__ == "__main__":
    if sys.argv[2] == "work":
        work(pathlib.Path(sys.argv[1]), int(sys.argv[3]))
    else:
        main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
