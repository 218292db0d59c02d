"""The input of a run that has no result, for Coffea's `Runner` to run again."""

import json
import os
import pathlib

from .requirements import missing_package

_REMEDY = "give what `crema export --to coffea-fileset` wrote"


def _read(fileset) -> dict:
    """The fileset of a path, or as it was given."""
    if isinstance(fileset, (str, os.PathLike)):
        try:
            fileset = json.loads(pathlib.Path(fileset).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"crema: {fileset}: not JSON ({error}): {_REMEDY}") from error
    if not isinstance(fileset, dict):
        raise ValueError(f"crema: this {type(fileset).__name__} is not a fileset: {_REMEDY}")
    return fileset


def work_items(fileset, treename=None, metadata=None) -> list:
    """Coffea's `WorkItem`s for a fileset of `crema export --to coffea-fileset`, given as a path or as its content:

        output = runner(crema_hep.work_items("again.json"), processor_instance=my_processor)

    `treename`: for files whose tree no attempt recorded. `metadata`: the user's, by dataset. Each file is opened,
    because Coffea needs its UUID; a file without `steps` is one item. Raises ValueError if this is not such a fileset,
    or a tree is not known, ImportError without Coffea, and what `open` and `uproot.open` raise.
    """
    try:
        import uproot
        from coffea.processor.executor import WorkItem
    except ModuleNotFoundError as error:
        raise missing_package(error, "work_items") from error
    items = []
    for dataset, entry in _read(fileset).items():
        files = entry.get("files") if isinstance(entry, dict) else None
        if not isinstance(files, dict):
            raise ValueError(f"crema: the dataset {dataset} has no object `files`: {_REMEDY}")
        for path, known in files.items():
            known = known if isinstance(known, dict) else {"object_path": known}  # Coffea's short form
            tree = known.get("object_path") or treename
            if tree is None:
                raise ValueError(f"crema: the tree of {path} is not known: give treename=")
            with uproot.open(path) as file:
                steps = known.get("steps") or [[0, file[tree].num_entries]]
                uuid = file.file.fUUID
            meta = (metadata or {}).get(dataset)
            items += [WorkItem(dataset, path, tree, first, stop, uuid, meta) for first, stop in steps]
    return items
