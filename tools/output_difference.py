"""Compares two folders of output byte by byte, and reports where they first differ."""

import dataclasses
import fnmatch
import os
import pathlib
import re
import time

BLOCK_BYTES = 1 << 20
SHOWN_BYTES = 60
SHOWN_BEFORE = 20  # how many of these are before the first differing byte


STARTED_NS = time.time_ns()
CREATED = re.compile(rb'(?<=\n  "created": ")[^"]*')


@dataclasses.dataclass(frozen=True)
class Mask:
    """A value that differs in every run of one program."""

    files: str  # glob
    pattern: re.Pattern
    reason: str
    is_clock: bool = False  # only nanoseconds since this tool started, because all times in the inputs are older

    def apply(self, data: bytes) -> bytes:
        def replace(match: re.Match) -> bytes:
            return match[0] if self.is_clock and int(match[0]) < STARTED_NS else b"MASKED"

        return self.pattern.sub(replace, data)


MASKS = (
    Mask("*measurement.json", CREATED, "the time of writing"),
    Mask("stdout of collect*", CREATED, "the same, of --json"),
    Mask(
        "*report.html",
        re.compile(rb"(?<=, )[-\d]{10}T[\d:.]{12}Z(?=, on <bdi>)"),
        "the same, of what was just measured",
    ),
    Mask("roastcoffea/metadata.json", re.compile(rb'(?<=^  "timestamp": ")[^"]*', re.MULTILINE), "the time of writing"),
    Mask("stdout of serve", re.compile(rb"(?<=^http://127\.0\.0\.1:)\d+"), "the port, which the system chooses"),
    Mask("api/v1/*", re.compile(rb'(?<="live_quiet_seconds": )[\d.]+'), "seconds on the clock since the last record"),
    Mask("metrics", re.compile(rb"(?<=^crema_live_quiet_seconds )[\d.]+", re.MULTILINE), "the same"),
    Mask("api/live*", re.compile(rb'(?<="quiet_seconds":)[\d.]+'), "the same"),
    Mask("api/live*", re.compile(rb'(?<=^{"id":)\d+'), "the first number of a server is its time of start"),
    Mask(
        "api/live*",
        re.compile(rb'\](?:,"\d+":\[0\.0,0\.0,0\.0,[\d.]+,\d+,\d+,null\])?(?=\},"series":)'),
        "the last second of a worker, in which no chunk was open: it comes with the server's next look at the clock",
    ),
    Mask("api/v1/events", re.compile(rb'(?<="time_ns": )\d+'), "when the server noticed it", is_clock=True),
    Mask("api/live*", re.compile(rb'(?<={"seconds":)[\d.]+(?=,"kind":)'), "the same; its time is in api/v1/events"),
    Mask("api/*", re.compile(rb'(?<="followed_seconds":)\s*[\d.]+'), "how long the server has run"),
)


@dataclasses.dataclass(frozen=True)
class Difference:
    file: str
    what: str  # "at 17: '…' | '…'", or which side lacks the file


def files_below(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """All files and links by their path; folders that are empty, too, with a slash at the end."""
    found = {}
    for parent, folders, files in os.walk(folder):
        path = pathlib.Path(parent)
        for name in files:
            found[str((path / name).relative_to(folder))] = path / name
        if not folders and not files and path != folder:
            found[f"{path.relative_to(folder)}/"] = path
    return found


def masked(data: bytes, file: str, command: str) -> bytes:
    name = f"{file} of {command}" if file == "stdout" else file.removeprefix("files/")
    for mask in MASKS:
        if fnmatch.fnmatchcase(name, mask.files):
            data = mask.apply(data)
    return data


def shown(data: bytes, at: int) -> str:
    start = max(0, at - SHOWN_BEFORE)
    return repr(data[start : start + SHOWN_BYTES])[1:]


def first_difference(old: bytes, new: bytes) -> int:
    """The offset of the first byte that differs; -1 if none does."""
    if old == new:
        return -1
    low, high = 0, min(len(old), len(new))  # equal up to low
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def compare_files(old: pathlib.Path, new: pathlib.Path, file: str, command: str) -> Difference | None:
    if old.is_dir() or new.is_dir():
        return None if old.is_dir() and new.is_dir() else Difference(file, "a folder on one side only")
    with open(old, "rb") as old_file, open(new, "rb") as new_file:
        offset = 0
        while True:
            old_block, new_block = old_file.read(BLOCK_BYTES), new_file.read(BLOCK_BYTES)
            if old_block != new_block:
                break
            if not old_block:
                return None
            offset += len(old_block)
    old_bytes, new_bytes = old.read_bytes(), new.read_bytes()
    at = first_difference(masked(old_bytes, file, command), masked(new_bytes, file, command))
    if at < 0:
        return None
    old_bytes, new_bytes = masked(old_bytes, file, command), masked(new_bytes, file, command)
    return Difference(file, f"at {at}: {shown(old_bytes, at)} | {shown(new_bytes, at)}")


def compare_folders(old: pathlib.Path, new: pathlib.Path, command: str) -> list[Difference]:
    """All files that differ. `command` chooses the masks of stdout."""
    old_files, new_files = files_below(old), files_below(new)
    found = []
    for file in sorted(old_files.keys() | new_files.keys()):
        if file not in new_files:
            found.append(Difference(file, "only OLD wrote it"))
        elif file not in old_files:
            found.append(Difference(file, "only NEW wrote it"))
        else:
            difference = compare_files(old_files[file], new_files[file], file, command)
            if difference:
                found.append(difference)
    return found
