"""A larger file, made of the real events of a smaller one."""

import os
import pathlib

import awkward as ak
import uproot

EVENTS = pathlib.Path(__file__).resolve().parents[2] / "tests/data/nanoAOD_2015_CMS_Open_Data_ttbar.root"
EVENT_NUMBERS = ("run", "luminosityBlock", "event")
COLLECTIONS = ("Electron", "Jet", "MET", "Muon")
REPEATS_IN_A_BASKET = 50


def write(path, repeats):
    """Writes the events with all columns of COLLECTIONS, `repeats` times one after another.

    A file that holds just that already stays.
    """
    with uproot.open(EVENTS) as file:
        tree = file["Events"]
        if os.path.exists(path) and holds(path, repeats * tree.num_entries):
            return
        columns = {name: tree[name].array() for name in EVENT_NUMBERS}
        for collection in COLLECTIONS:
            columns.update(columns_of(tree, collection))
    unfinished = f"{path}.{os.getpid()}"
    with uproot.recreate(unfinished) as file:
        for first in range(0, repeats, REPEATS_IN_A_BASKET):
            times = min(REPEATS_IN_A_BASKET, repeats - first)
            basket = {name: ak.concatenate([values] * times) for name, values in columns.items()}
            if first == 0:
                file.mktree("Events", {name: values.type.content for name, values in basket.items()})
            file["Events"].extend(basket)
    os.replace(unfinished, path)


def holds(path, entries):
    """Whether the file has that many events, with all collections."""
    with uproot.open(path) as file:
        tree = file["Events"]
        return tree.num_entries == entries and {f"{name}_pt" for name in COLLECTIONS} <= set(tree.keys())


def columns_of(tree, collection):
    """A collection's columns by the names that uproot writes them under: jagged ones share a counter."""
    columns = {
        name.removeprefix(f"{collection}_"): tree[name].array() for name in tree.keys(filter_name=f"{collection}_*")
    }
    if columns["pt"].ndim > 1:
        return {collection: ak.zip(columns)}
    return {f"{collection}_{name}": values for name, values in columns.items()}
