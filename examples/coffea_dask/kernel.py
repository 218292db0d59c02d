"""The native kernel (kernel.h): columns in, counts out."""

import ctypes
import functools

import awkward as ak
import numpy as np

HISTOGRAMS = ("ht", "missing", "mt")


class _Events(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_int64),
        ("number", ctypes.c_void_p),
        ("jet_offsets", ctypes.c_void_p),
        ("jet_pt", ctypes.c_void_p),
        ("jet_phi", ctypes.c_void_p),
        ("lepton_pt", ctypes.c_void_p),
        ("lepton_phi", ctypes.c_void_p),
        ("missing_pt", ctypes.c_void_p),
        ("missing_phi", ctypes.c_void_p),
    )


class _Axis(ctypes.Structure):
    _fields_ = (("bins", ctypes.c_int64), ("high", ctypes.c_double))


# A loaded library cannot be pickled, and Coffea pickles processors: so these hold its path; a process loads it once.
@functools.cache
def _load(path):
    # CDLL releases the GIL during a call: other threads' Python goes on while this one is in the kernel.
    fill = ctypes.CDLL(path).jet_toys_fill
    fill.argtypes = (ctypes.POINTER(_Events), ctypes.c_int64, ctypes.POINTER(_Axis), ctypes.c_void_p, ctypes.c_void_p)
    fill.restype = None
    return fill


def fill(path, number, jets, lepton, missing, toys, bins, high):
    """Counts of three histograms, as measured and with `toys` variations: two arrays [histogram, bin].

    `jets`: pt and phi of all jets of each event; `lepton` and `missing`: one pt and phi each. Momenta in GeV.
    """
    columns = [
        np.ascontiguousarray(number, np.uint64),
        np.concatenate(([0], np.cumsum(ak.to_numpy(ak.num(jets)), dtype=np.int64))),
        *(np.ascontiguousarray(ak.flatten(jets[name]), np.float64) for name in ("pt", "phi")),
        *(np.ascontiguousarray(vector[name], np.float64) for vector in (lepton, missing) for name in ("pt", "phi")),
    ]
    measured, varied = (np.zeros((len(HISTOGRAMS), bins + 1), np.int64) for _ in range(2))
    events = _Events(len(columns[0]), *(column.ctypes.data for column in columns))
    _load(path)(ctypes.byref(events), toys, ctypes.byref(_Axis(bins, high)), measured.ctypes.data, varied.ctypes.data)
    return measured, varied
