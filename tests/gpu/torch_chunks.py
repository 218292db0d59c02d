"""Chunks of PyTorch with known times by CUDA events: `torch_chunks.py [profiler]`. Prints one JSON object."""

import json
import sys
import time

import crema_hep
import torch

CHUNKS, PRODUCTS, SIZE = (150 if "long" in sys.argv else 15), 20, 4096


def main():
    device = torch.device("cuda")
    matrix = torch.randn(SIZE, SIZE, device=device)
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    events, start = 0.0, time.monotonic()
    for number in range(CHUNKS):
        with crema_hep.TrackMetrics("torch", "f.root", number * 1000, number * 1000 + 1000) as chunk:
            with crema_hep.track_section("products"):
                begin.record()
                for _ in range(PRODUCTS):
                    product = matrix @ matrix
                end.record()
                float(product[0, 0])
            events += begin.elapsed_time(end) / 1e3
            chunk.set_events(1000)
    found = {"wall": time.monotonic() - start, "events": events, "products": CHUNKS * PRODUCTS}
    if "profiler" in sys.argv:
        from torch.profiler import ProfilerActivity, profile

        activities = [ProfilerActivity.CUDA, ProfilerActivity.CPU]
        with profile(activities=activities) as profiler, crema_hep.TrackMetrics("profiled", "g.root", 0, 1000):
            for _ in range(PRODUCTS):
                product = matrix @ matrix
            torch.cuda.synchronize()
        rows = [row for row in profiler.key_averages() if row.self_device_time_total > 0 and row.count >= PRODUCTS]
        found["profiler_rows"] = len(rows)
        found["profiler_seconds"] = max((row.self_device_time_total for row in rows), default=0) / 1e6
    print(json.dumps(found), flush=True)


main()
