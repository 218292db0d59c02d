#include <ROOT/RDataFrame.hxx>

#include "crema/root.h"

void frame() {
  ROOT::RDataFrame events(1000);
  auto tracked = crema::TrackDataFrame(events, {"toys"});
  auto late = events.Filter([](ULong64_t entry) { return entry >= 10; }, {"rdfentry_"}, "late");
  printf("%llu\n", late.Count().GetValue());
}
