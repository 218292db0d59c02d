"""A program that spends 70 % of its CPU time in `heavy`, and 30 % in `light`."""

SHARES = """
import sys
import time
import crema_hep as crema

source = "def {name}(n):\\n    x = 0.0\\n    for i in range(n):\\n        x += i * 0.5\\n    return x\\n"
for name in ("heavy", "light"):
    exec(compile(source.format(name=name), name + ".py", "exec"))

def repeat(times):
    for _ in range(times):
        heavy(7000)
        light(3000)

def work(seconds):
    # No system call between: on full cores, the kernel takes the CPU away at such calls more often than elsewhere.
    begin = time.thread_time()
    repeat(100)
    repeat(round(100 * seconds / (time.thread_time() - begin)) - 100)

def descend(levels, seconds):
    if levels:
        descend(levels - 1, seconds)
    else:
        work(seconds)

with crema.TrackMetrics("zjets", "events.root", 0, 10) as chunk:
    with crema.track_section("select"), crema.track_section("a/b"):
        work(2)
    descend(200, 0.2)
    with crema.track_section("waits"):
        time.sleep(1)
    chunk.set_events(10)
"""
