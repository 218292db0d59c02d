"""Records on the disks of a cluster's hosts: each host makes a measurement, and crema merges them."""

import asyncio
import io
import pathlib
import tarfile
import tempfile

from . import program

_MOST_BYTES = 1 << 30  # of one host's compressed measurement, because it goes through the scheduler


def _workers_by_host(client):
    """{host: the address of one of its workers}. The scheduler does not need crema_hep for this."""
    from distributed.comm import get_address_host

    return {get_address_host(address): address for address in client.ncores()}


def _collect_here(paths, most_bytes):
    """Runs on a worker. Returns the measurement of the records on this host as a compressed archive, or why there is
    none."""
    here = [path for path in paths if pathlib.Path(path).exists()]
    if not here:
        return f"none of {', '.join(map(str, paths))} is there"
    with tempfile.TemporaryDirectory(prefix="crema-") as directory:
        try:
            program.run("collect", *here, "-o", f"{directory}/measurement", "--run", "all", "-q")
        except program.ProgramError as error:
            return str(error)
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
            tar.add(f"{directory}/measurement", "measurement")
        if archive.tell() > most_bytes:
            size = f"{archive.tell():,} bytes compressed, more than {most_bytes:,}"
            return f"its measurement has {size}: collect there, and copy the directory"
        return archive.getvalue()


async def _collect_beside(paths, most_bytes, timeout):
    """Runs on a worker; the worker continues its work meanwhile."""
    return await asyncio.wait_for(asyncio.to_thread(_collect_here, paths, most_bytes), timeout)


def _unpack(archive, folder):
    """Files and directories below `folder`. Raises ProgramError if a name leads out of it."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            path = folder / member.name
            if ".." in path.parts or not path.is_relative_to(folder) or not (member.isdir() or member.isfile()):
                raise program.ProgramError(f"crema: a host sent {member.name!r}, which is not part of a measurement")
            if member.isdir():
                path.mkdir(parents=True)
            else:
                path.write_bytes(tar.extractfile(member).read())


def collect_on(client, paths, output, *, timeout=600.0):
    """Makes one measurement, the directory `output`, of record logs that lie on the hosts of a Dask cluster.

    `paths` are directories as `crema collect` takes them. On each host one worker reads those that the host has.
    Workers need crema_hep with its program; the scheduler does not. Hosts that share a disk may find the same logs:
    each log counts once. Returns {host: why nothing came from it}, empty if all went well. `timeout`: seconds for all
    hosts together. Raises ProgramError if no host has records or if the merge fails, TimeoutError, and TypeError for
    wrong arguments.
    """
    if not hasattr(client, "asynchronous"):
        raise TypeError(f"crema: collect_on needs a Client of Dask, not this {type(client).__name__}")
    if isinstance(paths, (str, pathlib.PurePath)):
        raise TypeError("crema: collect_on takes a list of paths: put the path in brackets")
    if client.asynchronous:
        raise program.ProgramError("crema: collect_on needs a synchronous Client: asynchronous=True is not supported")
    workers = _workers_by_host(client)
    # not as a task: to read the graph, the scheduler would need crema_hep, too
    results = client.run(
        _collect_beside,
        [str(path) for path in paths],
        _MOST_BYTES,
        timeout,
        workers=list(workers.values()),
        on_error="return",
    )
    missing = {}
    with tempfile.TemporaryDirectory(prefix="crema-") as directory:
        parts = []
        for host, address in workers.items():
            result = results[address]
            if isinstance(result, (TimeoutError, asyncio.TimeoutError)):
                raise TimeoutError(f"crema: {host} had not collected its records after {timeout:g} s")
            if not isinstance(result, bytes):
                missing[host] = str(result)
                continue
            folder = pathlib.Path(directory, str(len(parts)))
            _unpack(result, folder)
            parts.append(folder / "measurement")
        if not parts:
            reasons = "; ".join(f"{host}: {reason}" for host, reason in missing.items())
            raise program.ProgramError(f"crema: no host has records: {reasons or 'the cluster has no workers'}")
        program.run("merge", *parts, "-o", output, "-q")
    return missing
