"""RDataFrame from Python: `crema_hep.root.track(frame, "ttbar")`, for local and distributed frames.

The guards are those of C++ (crema/root.h), in a library that is compiled once (root_library). Where that cannot be,
ROOT's interpreter compiles them in each process. docs/root.md is the guide.
"""

import functools
import threading
import time

from . import library, recorder, root_library, sdk
from .interruption import is_of_a_handler
from .notice import warn
from .section import track_section

try:
    import ROOT
except ImportError as error:
    raise ImportError(
        f"crema: crema_hep.root needs PyROOT, and `import ROOT` fails here: {error}; take a Python that has ROOT "
        "6.40 or newer (pip install ROOT, conda install root, or the setup of your experiment)"
    ) from error

_add_cost = library.functions["crema_add_cost"]
_lock = threading.Lock()
_is_declared = False
_ATTRIBUTE = "_crema_tracked"
_executions = {}  # (dataset, pass, files): how many event loops of distributed frames began


class TrackedFrame:
    """Keeps a frame tracked as long as this object lives. The frame keeps this object alive, too.

    `compile_seconds`: how long it took to compile crema's guards; None if they were already compiled, or if recording
    is off.
    """

    def __init__(self, dataset, handle=None, compile_seconds=None, where=""):
        self.dataset = dataset
        self.compile_seconds = compile_seconds
        self._handle = handle
        self._where = where or ("" if handle is not None else ", nothing is recorded")

    def __repr__(self):
        took = "" if self.compile_seconds is None else f", guards compiled in {self.compile_seconds:.1f} s"
        return f"<crema: chunks of {self.dataset or 'a frame'}{self._where}{took}>"


def track(frame, dataset=None, *, pass_=None, entries_per_chunk=0) -> TrackedFrame:
    """Makes each task of each event loop of a frame a chunk, as `crema::TrackDataFrame` does. `frame` may be any node
    of it.

        events = ROOT.RDataFrame("Events", files)
        crema_hep.root.track(events, "ttbar")

    `dataset`: that of the chunks; None: the name of the sample, if the frame has samples. `entries_per_chunk`: a longer
    task becomes several chunks; without implicit multi-threading a file is one task. Call this before you book actions.

    A frame that Dask distributes is tracked on the workers: attach crema to the cluster (`crema_hep.attach`,
    `MetricsCollector`).

    While recording is off, it does nothing. Raises TypeError if `frame` is not a frame, and `sdk.SdkError` if the SDK's
    headers are missing or ROOT cannot compile them.
    """
    options = (dataset or "", pass_ or "", int(entries_per_chunk))
    head = _distributed_head(frame)
    if head is not None:
        _track_tasks(head, options)
        return TrackedFrame(dataset, where=", on the workers")
    if not isinstance(frame, ROOT.RDF.RInterfaceBase):
        raise TypeError(f"crema: track() takes an RDataFrame or a node of one, not {type(frame).__name__}")
    return _track(frame, options, counts_loops=True)


def _track(frame, options, counts_loops):
    if not recorder.enabled():
        return TrackedFrame(options[0])
    with _lock:
        start_cpu_ns = time.thread_time_ns()
        try:
            compile_seconds = _declare()
            handle = ROOT.crema.python.Track(ROOT.RDF.AsRNode(frame), *options, counts_loops)
        finally:
            _add_cost(time.thread_time_ns() - start_cpu_ns)
    tracked = TrackedFrame(options[0], handle, compile_seconds)
    setattr(frame, _ATTRIBUTE, tracked)
    return tracked


def _declare() -> float | None:
    """Makes ROOT.crema.python.Track. Returns how long a compilation took; None: there was none."""
    global _is_declared
    if _is_declared:
        return None
    found = sdk.find()
    if ROOT.gSystem.Load(found.library) < 0:
        raise sdk.SdkError(f"crema: ROOT cannot load {found.library}; its message is above")
    compile_seconds = []
    compiling = functools.partial(_timed, compile_seconds)
    guards = root_library.find_or_compile(ROOT, found.include, compiling)
    if guards is None or ROOT.gSystem.Load(guards) < 0 or not ROOT.gInterpreter.Declare(root_library.DECLARATION):
        ROOT.gInterpreter.AddIncludePath(found.include)
        if not compiling(lambda: ROOT.gInterpreter.Declare(root_library.INTERPRETED) and _warm_up()):
            raise sdk.SdkError(f"crema: ROOT cannot compile {found.include}/crema/root.h; its messages are above")
    _is_declared = True
    return sum(compile_seconds) if compile_seconds else None


def _warm_up():
    """The interpreter compiles what a function needs when it is first called."""
    ROOT.crema.python.Track(ROOT.RDF.AsRNode(ROOT.RDataFrame(1)), "", "", 0, False)
    return True


def _timed(seconds, compile_guards):
    """What the function returns; `seconds` gets how long that took."""
    start_s = time.monotonic()
    try:
        with track_section("compile guards"):
            return compile_guards()
    finally:
        seconds.append(time.monotonic() - start_s)


def _distributed_head(frame):
    """The head of a distributed frame's graph; None for a frame of this process."""
    if "_distrdf" not in type(frame).__module__ and "DistRDF" not in type(frame).__module__:
        return None
    return frame.proxied_node.get_head()


def _track_tasks(head, options) -> None:
    """Makes each task of a distributed frame track the frame that the task makes."""
    make_creator = head._generate_rdf_creator

    def make_tracking_creator():
        dataset, pass_, entries = options
        files = (dataset, pass_, *map(str, getattr(head, "inputfiles", None) or [id(head)]))
        _executions[files] = loop = _executions.get(files, 0) + 1
        if not pass_ and loop > 1:
            pass_ = f"loop {loop}"
        return functools.partial(_create_tracked, make_creator(), (dataset, pass_, entries))

    head._generate_rdf_creator = make_tracking_creator


def _create_tracked(create, options, range_):
    """On a worker: tracks the frame of one task. Tasks of one process may share the frame. What keeps crema from
    tracking keeps no task from running."""
    task = create(range_)
    if task.rdf is not None and not hasattr(task.rdf, _ATTRIBUTE):
        try:
            _track(task.rdf, options, counts_loops=False)
        except Exception as error:  # SdkError, or a class of ROOT's interpreter
            if is_of_a_handler(error):
                raise
            setattr(task.rdf, _ATTRIBUTE, None)
            reason = " ".join(library.text_of(error).removeprefix("crema: ").split()) or type(error).__name__
            warn(f"crema: {reason}; this worker's tasks run without records of their chunks")
    return task
