#include <ROOT/RDataFrame.hxx>

#include "crema/root.h"

int main() {
  ROOT::RDataFrame toys(1000);
  auto tracked = crema::TrackDataFrame(toys, {"ttbar"});
  return *toys.Count() == 1000 ? 0 : 1;
}
