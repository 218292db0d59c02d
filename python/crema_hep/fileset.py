"""The input of a run that has no result, for Coffea's `Runner` to run again."""

import json
import pathlib


def work_items(fileset, treename=None, metadata=None) -> list:
    """Coffea's `WorkItem`s for a fileset of `crema export --to coffea-fileset`, given as a path or as its content:

        output = runner(crema_hep.work_items("again.json"), processor_instance=my_processor)

    `treename`: for files whose tree no attempt recorded. `metadata`: the user's, by dataset. Each file is opened,
    because Coffea needs its UUID; a file without `steps` is one item. Raises ValueError if a tree is not known, and
    what `uproot.open` raises.
    """
    import uproot
    from coffea.processor.executor import WorkItem

    if not isinstance(fileset, dict):
        fileset = json.loads(pathlib.Path(fileset).read_text(encoding="utf-8"))
    items = []
    for dataset, entry in fileset.items():
        for path, known in entry["files"].items():
            tree = known.get("object_path") or treename
            if tree is None:
                raise ValueError(f"the tree of {path} is not known: give treename=")
            with uproot.open(path) as file:
                steps = known.get("steps") or [[0, file[tree].num_entries]]
                uuid = file.file.fUUID
            meta = (metadata or {}).get(dataset)
            items += [WorkItem(dataset, path, tree, first, stop, uuid, meta) for first, stop in steps]
    return items
