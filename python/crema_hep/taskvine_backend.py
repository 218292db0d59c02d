"""Measures Coffea's `TaskVineExecutor`: the records of its tasks' processes, with the logs of its manager."""

import os
import pathlib
import weakref

from .local_backend import LocalBackend


class TaskVineBackend(LocalBackend):
    """As `LocalBackend`. Each task gets the directory of records, which has to be on a file system that the workers
    share with this process: set `CREMA_DIR`. The manager's logs become part of the measurement."""

    takes_all = True

    def __init__(self, executor, track_workers=True, worker_tracking_interval=1.0):
        super().__init__(track_workers, worker_tracking_interval)
        self._executor = executor
        self._custom_init = None
        self._is_on = False
        self._log_directories = []

    def _begin(self) -> None:
        super()._begin()
        self._log_directories = []
        self._custom_init = self._executor.custom_init
        self._is_on = True
        self._executor.custom_init = self._prepare

    def _end(self) -> None:
        if self._is_on:
            self._is_on = False
            self._executor.custom_init = self._custom_init
        super()._end()

    def sources(self) -> list:
        return super().sources() + [directory for directory in self._log_directories if directory.is_dir()]

    def _prepare(self, manager) -> None:
        """Coffea calls this with its manager before it submits tasks: once for each phase, usually with the same
        manager."""
        if self._custom_init is not None:
            self._custom_init(manager)
        if getattr(manager, "_crema_backend", None) is self:
            return
        manager._crema_backend = self
        directory = getattr(manager, "logging_directory", None)
        if directory is None:
            directory = pathlib.Path(os.environ.get("VINE_RUNTIME_INFO_DIR", "vine-run-info")) / "most-recent"
        self._log_directories.append(pathlib.Path(directory).resolve())
        instead = vars(manager).get("submit")  # a hook of somebody else
        held = weakref.ref(manager)  # a manager that refers to itself would go on listening on its port

        def submit_recorded(task):
            if self._is_on:
                task.set_env_var("CREMA_DIR", os.path.abspath(self._directory))
                task.set_env_var("CREMA_INTERVAL", f"{self._interval:g}")
            return instead(task) if instead else type(held()).submit(held(), task)

        manager.submit = submit_recorded


def backend_of(collector) -> TaskVineBackend:
    """The collector's, for `backends`."""
    return TaskVineBackend(collector.client, collector.track_workers, collector.worker_tracking_interval)
