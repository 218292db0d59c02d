"""Tracks one frame: pyroot_library.py FOLDER. Prints what it found, and the library with the guards that was loaded."""

import json
import sys

import crema_hep.root
import ROOT

events = ROOT.RDataFrame("Events", f"{sys.argv[1]}/tree0.root")
tracked = crema_hep.root.track(events, "trees")
passed = events.Filter("x > 0", "positive").Count().GetValue()
with open("/proc/self/maps") as maps:
    libraries = sorted({line.split()[-1] for line in maps if "/root-" in line})
print(json.dumps({"passed": passed, "seconds": tracked.compile_seconds, "library": (libraries or [None])[0]}))
