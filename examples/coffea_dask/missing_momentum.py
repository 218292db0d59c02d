"""The analysis: how much of the missing momentum in ttbar events may be jets that were measured wrongly?"""

import warnings

import awkward as ak
import kernel
from coffea.nanoevents import NanoAODSchema
from coffea.processor import ProcessorABC
from crema_hep import record_cut, record_metric, track_metrics, track_section

# Warnings about branches that NanoAOD has elsewhere, or twice: once a task, on each worker's terminal.
warnings.filterwarnings("ignore", module=r"coffea\.nanoevents\.schemas")


class Schema(NanoAODSchema):
    """NanoAOD with the columns that a file happens to have."""

    warn_missing_crossrefs = False


BINS, HIGH = 50, 500.0  # GeV


class MissingMomentum(ProcessorABC):
    """Selects events with a lepton and jets, and varies the jets within their resolution.

    `library`: path of the native kernel. `toys`: variations of each event.
    """

    def __init__(self, library, toys):
        self.library = library
        self.toys = toys

    @track_metrics
    def process(self, events):
        cuts = {}
        with track_section("read"):
            # NanoEvents reads a column when it is first used: here, and not in the middle of the selection.
            number, missing = ak.materialize(events.event), columns(events.MET, "pt", "phi")
            jets = columns(events.Jet, "pt", "eta", "phi", "jetId")
            leptons = ak.concatenate(
                [columns(events.Electron, "pt", "eta", "phi"), columns(events.Muon, "pt", "eta", "phi")], axis=1
            )
        with track_section("select"):
            jets = jets[(jets.pt > 20) & (abs(jets.eta) < 2.4) & (jets.jetId >= 2)]
            leptons = leptons[(leptons.pt > 20) & (abs(leptons.eta) < 2.4)]
            has_lepton = ak.num(leptons) >= 1
            has_jet = has_lepton & (ak.num(jets) >= 1)
            cut(cuts, "all events", len(events))
            cut(cuts, "a lepton", int(ak.sum(has_lepton)))
            cut(cuts, "a jet", int(ak.sum(has_jet)))
            cut(cuts, "missing momentum", int(ak.sum(has_jet & (missing.pt > 40))))
            number, missing, jets, leptons = (column[has_jet] for column in (number, missing, jets, leptons))
            leading = ak.firsts(leptons[ak.argsort(leptons.pt, ascending=False)])
        with track_section("vary"):
            counts = kernel.fill(self.library, number, jets, leading, missing, self.toys, BINS, HIGH)
        record_metric("jets", int(ak.sum(ak.num(jets))), "count")
        return {events.metadata["dataset"]: {"cuts": cuts, "measured": counts[0], "varied": counts[1]}}

    def postprocess(self, accumulator):
        return accumulator


def columns(collection, *names):
    """Reads these columns of a collection now."""
    return ak.materialize(ak.zip({name: collection[name] for name in names}))


def cut(cuts, name, events):
    """Each cut takes the events that passed the one before."""
    record_cut(name, events, parent=next(reversed(cuts), None))
    cuts[name] = events
