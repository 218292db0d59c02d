// The selection of this example: Z bosons in two muons, with systematic variations.
#ifndef CREMA_EXAMPLES_ROOT_MUONS_ANALYSIS_H_
#define CREMA_EXAMPLES_ROOT_MUONS_ANALYSIS_H_

#include <TH1D.h>

#include <map>
#include <string>

#include "crema/root.h"

namespace root_muons {

/// Histograms by variation: `nominal`, `scale:down`, `scale:up`.
struct Found {
  unsigned long long events = 0;
  std::map<std::string, TH1D> mass;  ///< of the pair, GeV
  std::map<std::string, TH1D> pt;    ///< of the pair, GeV
  TH1D met;                          ///< GeV
};

/// Runs one event loop over a file that `replicate` wrote. Throws what RDataFrame throws.
Found Analyze(const std::string& path, const crema::DataFrameOptions& options);

}  // namespace root_muons

#endif  // CREMA_EXAMPLES_ROOT_MUONS_ANALYSIS_H_
