// The table of costs and limits.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace crema_benchmarks {

/// All repetitions of one benchmark, in ns a call and thread.
struct Repetitions {
  std::vector<double> undisturbed;
  std::vector<double> all;

  /// The repetitions to judge by: the undisturbed ones, unless there are too few.
  const std::vector<double>& used() const;
};

double Median(std::vector<double> values);
double Least(const std::vector<double>& values);

/// Keeps the results instead of printing them.
class RepetitionCollector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Null if the benchmark did not run.
  const Repetitions* Find(const std::string& name, int threads) const;
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  std::map<std::pair<std::string, int>, Repetitions> repetitions_;
  std::vector<std::string> errors_;
};

/// Prints one row for each guard: its cost, its limit's, the ratios of medians and of minima, the target, and whether
/// the ratio of the medians meets it. Returns how many targets were missed.
int PrintRatios(const RepetitionCollector& measured);

}  // namespace crema_benchmarks
