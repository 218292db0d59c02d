"""A Coffea processor that counts jets, in a module that workers import."""

import awkward as ak
import crema_hep
from coffea.processor import ProcessorABC


class Jets(ProcessorABC):
    @crema_hep.track_metrics
    def process(self, events):
        with crema_hep.track_section(self, "select"):
            jets = int(ak.sum(events.Jet.pt > 30))
        return {"jets": jets, "events": len(events)}

    def postprocess(self, accumulator):
        return accumulator
