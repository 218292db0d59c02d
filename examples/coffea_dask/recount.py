"""Counts again what the analysis should find in the real file: event by event, without Coffea and without the kernel.

Prints {"cuts": {name: events}, "measured": {histogram: counts}} as JSON.
"""

import json
import math

import repeated_events
import uproot

COLLECTIONS = {
    "Electron": ("pt", "phi", "eta"),
    "Muon": ("pt", "phi", "eta"),
    "Jet": ("pt", "phi", "eta", "jetId"),
    "MET": ("pt", "phi"),
}
BINS, BIN_GEV = 50, 10


def rows(tree, collection):
    """For each event its objects, each as a tuple of the collection's columns."""
    names = [f"{collection}_{name}" for name in COLLECTIONS[collection]]
    arrays = tree.arrays(names, library="np")
    return [list(zip(*event, strict=True)) for event in zip(*(arrays[name] for name in names), strict=True)]


def good(objects):
    """Keeps objects of high pt in the tracker; jets only with a tight identification."""
    return [row for row in objects if row[0] > 20 and abs(row[2]) < 2.4 and all(number >= 2 for number in row[3:])]


def main():
    cuts = dict.fromkeys(("all events", "a lepton", "a jet", "missing momentum"), 0)
    measured = {name: [0] * (BINS + 1) for name in ("ht", "missing", "mt")}
    with uproot.open(repeated_events.EVENTS) as file:
        tree = file["Events"]
        collections = [rows(tree, name) for name in ("Electron", "Muon", "Jet")]
        missing = tree.arrays(["MET_pt", "MET_phi"], library="np")
    for *objects, missing_pt, missing_phi in zip(*collections, missing["MET_pt"], missing["MET_phi"], strict=True):
        electrons, muons, jets = map(good, objects)
        passed = [True, bool(electrons or muons)]
        passed.append(passed[-1] and bool(jets))
        passed.append(passed[-1] and missing_pt > 40)
        for name, is_passed in zip(cuts, passed, strict=True):
            cuts[name] += bool(is_passed)
        if not passed[2]:
            continue
        pt, phi, _ = max(electrons + muons)
        values = {
            "ht": math.fsum(jet[0] for jet in jets),
            "missing": missing_pt,
            "mt": math.sqrt(2 * float(pt) * float(missing_pt) * (1 - math.cos(float(phi) - float(missing_phi)))),
        }
        for name, value in values.items():
            measured[name][min(int(value / BIN_GEV), BINS)] += 1
    print(json.dumps({"cuts": cuts, "measured": measured}))


if __name__ == "__main__":
    main()
