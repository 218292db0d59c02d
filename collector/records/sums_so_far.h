// What is new in a line of sums: each holds all that its row has come to.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "collector/records/facts.h"

namespace crema {

/// The name by which rows of one log differ.
std::string NameOfSums(const SumsFact& fact);

/// For one log.
class SumsSoFar {
 public:
  /// A process writes 1,250 rows at most.
  static constexpr size_t kMostRows = 2000;

  /// The fact less what was recorded of its row before: counts, sums and `first_start_ns`, from which on it is new.
  /// nullopt: nothing is new, or there are too many rows. Its lists stay as they were recorded.
  std::optional<SumsFact> Increment(const SumsFact& fact);

 private:
  std::map<std::string, SumsFact> reported_;  // numbers only: texts and lists are gone with their line
};

}  // namespace crema
