// Options: the settings from the command line.
#ifndef CREMA_EXAMPLES_ZJETS_OPTIONS_H_
#define CREMA_EXAMPLES_ZJETS_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zjets {

struct Dataset {
  std::string name;
  std::vector<std::string> files;
};

struct Options {
  std::vector<Dataset> datasets;  ///< default: the three Z+jets samples
  std::string pileup_file;        ///< where pile-up is drawn from; default: the di-jet sample
  std::int64_t events = 0;        ///< per file; 0: all
  std::int64_t chunk = 500;       ///< events per chunk
  int repeat = 1;                 ///< passes over the data, each with another pile-up
  int pileup = 60;                ///< events laid over each event
  double ghost_area = 0.02;       ///< in rapidity x azimuth
  int processes = 2;              ///< worker processes; 0: work in this one
  int threads = 1;                ///< per worker process, each with chunks of its own
  int helpers = 0;                ///< threads that help each of them with its chunk
  std::string output;             ///< histograms, JSON; empty: none
};

/// Reads the command line. If there is nothing to do (after `--help`, or a usage error, which it prints), returns
/// nothing and sets `*exit_status`.
std::optional<Options> ParseOptions(int argc, char** argv, int* exit_status);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_OPTIONS_H_
