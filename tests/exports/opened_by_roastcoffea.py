"""Opens the directory in argv[1] with the roastcoffea package: its loader, six tables, and each plot that has data."""

import sys
import warnings

import matplotlib

matplotlib.use("Agg")
from roastcoffea import load_measurement
from roastcoffea.export import reporter
from roastcoffea.visualization.plots import chunks, io, memory, scaling, throughput, workers

warnings.filterwarnings("ignore")
metrics, start, stop = load_measurement(sys.argv[1])

tables = {name: getattr(reporter, name)(metrics) for name in dir(reporter) if name.startswith("format_")}
assert len(tables) == 6, tables
missing = [name for name, table in tables.items() if table is None]
assert missing == ["format_fine_metrics_table"], missing  # no Dask, no fine metrics

tracking, records = metrics["tracking_data"], metrics["raw_chunk_metrics"]
workers.plot_worker_count_timeline(tracking)
memory.plot_memory_utilization_mean_timeline(tracking)
memory.plot_memory_utilization_per_worker_timeline(tracking)
throughput.plot_throughput_timeline(metrics["chunk_info"], tracking)
chunks.plot_runtime_distribution(records)
chunks.plot_runtime_vs_events(records)
io.plot_branch_access_per_chunk(records)
io.plot_bytes_accessed_per_chunk(records)
scaling.plot_efficiency_summary(metrics)
scaling.plot_resource_utilization(metrics)
print("opened", len(records), stop - start)
