"""A small, typical analysis of top-quark pairs. It selects jets and leptons, with variations of energies and weights,
and fills histograms with events that have one or two b-tagged jets.

Weights are multiples of 1/1024, so sums are exact in any order, and every run gives the same bits.
"""

import awkward as ak
import crema_hep
import hist
import numpy as np
from coffea.processor import ProcessorABC

VARIATIONS = ("nominal", "energy_up", "energy_down", "resolution")
REGIONS = ("one tag", "two tags")


def exact(weights):
    return np.round(np.asarray(weights) * 1024) / 1024


class TopQuarks(ProcessorABC):
    def process(self, events):
        metadata = events.metadata
        histogram = hist.Hist(
            hist.axis.Regular(25, 50, 550, name="observable"),
            hist.axis.StrCategory(REGIONS, name="region"),
            hist.axis.StrCategory(("ttbar", "wjets"), name="dataset"),
            hist.axis.StrCategory((*VARIATIONS, "tag_up", "tag_down"), name="variation"),
            storage="weight",
        )
        random = np.random.default_rng(int(metadata["entrystart"]))
        smear = ak.unflatten(random.normal(1, 0.05, int(ak.sum(ak.num(events.Jet)))), ak.num(events.Jet))
        leptons = ak.num(events.Electron[events.Electron.pt > 25]) + ak.num(events.Muon[events.Muon.pt > 25])
        for variation, scale in zip(VARIATIONS, (1.0, 1.03, 0.97, smear)):
            jets = ak.with_field(events.Jet, events.Jet.pt * scale, "pt")
            jets = jets[jets.pt > 25]
            tags = ak.sum(jets.btagCSVV2 > 0.5, axis=1)
            kept = (leptons <= 1) & (ak.num(jets) >= 4) & (tags >= 1)
            jets, tags = jets[kept], tags[kept]
            fill = {"dataset": metadata["dataset"], "variation": variation}
            energy = ak.sum(jets[tags == 1].pt, axis=1)
            histogram.fill(observable=energy, region="one tag", weight=exact(np.ones(len(energy))), **fill)
            triplets = ak.combinations(jets[tags >= 2], 3, fields=["a", "b", "c"])
            top = triplets.a + triplets.b + triplets.c
            mass = ak.drop_none(ak.flatten(top[ak.argmax(top.pt, axis=1, keepdims=True)].mass))
            histogram.fill(observable=mass, region="two tags", weight=exact(np.ones(len(mass))), **fill)
            if variation == "nominal":
                for name, size in (("tag_up", 0.075), ("tag_down", -0.075)):
                    weight = exact(1 + size * jets[tags == 1].pt[:, 0] / 50)
                    fill = {"dataset": metadata["dataset"], "variation": name}
                    histogram.fill(observable=energy, region="one tag", weight=weight, **fill)
        return {"events": len(events), "histogram": histogram}

    def postprocess(self, accumulator):
        return accumulator


class DecoratedTopQuarks(TopQuarks):
    @crema_hep.track_metrics
    def process(self, events):
        with crema_hep.track_section(self, "analysis"):
            return super().process(events)
