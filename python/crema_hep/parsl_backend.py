"""Measures Parsl, with Coffea's `ParslExecutor` or without Coffea."""

import os

from .local_backend import LocalBackend
from .notice import warn
from .requirements import missing_package


class ParslBackend(LocalBackend):
    """As `LocalBackend`. If Parsl's monitoring is on, gives executors radios that record tasks. The radios also bring
    the directory of records to the workers, so it has to be on a file system that they share with this process."""

    takes_all = True

    def __init__(self, executor, track_workers=True, worker_tracking_interval=1.0):
        super().__init__(track_workers, worker_tracking_interval)
        self._executor = executor
        self._radios = []

    def _begin(self) -> None:
        executors, is_monitored = self._executors()
        if is_monitored:
            from .parsl_radio import TaskRadio
        super()._begin()
        self._older_children = []  # helpers of Parsl that compute nothing
        if not is_monitored:
            warn(
                "crema: Parsl does not report its tasks: it needs "
                "Config(monitoring=MonitoringHub(resource_monitoring_interval=0)), loaded before the measurement",
            )
            return
        for executor in executors:
            radio = getattr(executor, "remote_monitoring_radio", None)
            if radio is None:
                continue
            self._radios.append((executor, radio))
            executor.remote_monitoring_radio = TaskRadio(radio, os.path.abspath(self._directory))

    def _end(self) -> None:
        for executor, radio in self._radios:
            executor.remote_monitoring_radio = radio
        self._radios = []
        super()._end()

    def _executors(self):
        """The executors that run tasks, and whether they are monitored: those of the loaded Parsl, or else those that
        Coffea will load."""
        try:
            import parsl
        except ModuleNotFoundError as error:
            raise missing_package(error, "backend 'parsl'") from error
        try:
            kernel = parsl.dfk()
        except parsl.errors.NoDataFlowKernelError:
            config = getattr(self._executor, "config", None)
            if config is None:
                return [], False
            hub = config.monitoring
            return config.executors, bool(hub and hub.resource_monitoring_enabled)
        hub = kernel.monitoring
        return list(kernel.executors.values()), bool(hub and hub.resource_monitoring_enabled)


def backend_of(collector) -> ParslBackend:
    """The collector's, for `backends`."""
    return ParslBackend(collector.client, collector.track_workers, collector.worker_tracking_interval)
