"""crema for Python: guards that record where an analysis spends its time, and the measurement of their records.

    from crema_hep import track_metrics, track_section

    class Processor(processor.ProcessorABC):
        @track_metrics
        def process(self, events):
            with track_section(self, "select"):
                ...

Guards do nothing unless recording is on (CREMA_DIR, `crema run`, `enable`, `MetricsCollector`), and need only the
standard library. docs/python.md is the guide.
"""

from .requirements import check_python, missing_package

check_python()  # first: an old Python cannot read the modules below

# ruff: noqa: E402, I001
import importlib

from .cluster_records import collect_on
from .chunk import ChunkHandle, current_chunk
from .collector import MetricsCollector
from .context import BaseInstrumentationContext
from .dask_activities import sections_to_dask
from .decoration import TrackMetrics, track_metrics
from .fileset import work_items
from .fine_metrics import extract_per_task_metrics
from .measurement import Measurement, load, load_measurement
from .memory import track_memory
from .recorder import disable, enable, enabled, flush
from .section import track_cpu_section, track_section, track_time
from .span import span
from .stacks import begin_if_asked as _begin_stacks
from .storage_requests import record_request, track_request
from .track_helper import track_helper
from .values import (
    add_bytes_read,
    digest_metric,
    meter,
    record_activity,
    record_cut,
    record_metric,
    set_attribute,
    track_bytes,
)
from .version import VERSION

__version__ = VERSION
_begin_stacks()

_OF_DASK = ("attach", "get_span_metrics")


def __getattr__(name):
    """Imports parts that need Dask or ROOT when they are first used."""
    if name == "root":
        return importlib.import_module(".root", __name__)
    if name in _OF_DASK:
        try:
            from . import dask_backend
        except ModuleNotFoundError as error:
            raise missing_package(error, f"crema_hep.{name}") from error
        return getattr(dask_backend, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BaseInstrumentationContext",
    "ChunkHandle",
    "Measurement",
    "MetricsCollector",
    "TrackMetrics",
    "add_bytes_read",
    "collect_on",
    "current_chunk",
    "digest_metric",
    "disable",
    "enable",
    "enabled",
    "extract_per_task_metrics",
    "flush",
    "load",
    "load_measurement",
    "meter",
    "record_activity",
    "record_cut",
    "record_metric",
    "record_request",
    "sections_to_dask",
    "set_attribute",
    "span",
    "track_bytes",
    "track_cpu_section",
    "track_helper",
    "track_memory",
    "track_metrics",
    "track_request",
    "track_section",
    "track_time",
    "work_items",
]
