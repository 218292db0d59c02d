// SeenStacks: the `stacks` lines of a log, as tests look at them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {

struct SeenStack {
  std::string dataset;
  std::string section;
  std::uint64_t samples = 0;
  std::uint64_t squares = 0;
  std::vector<std::string> functions;  ///< the outermost first
};

struct Seen {
  std::vector<SeenStack> stacks;
  std::vector<std::string> refused;
  std::uint64_t lost_samples = 0;
  std::vector<nlohmann::json> modules;

  double Samples(const std::string& section, const std::string& innermost = "") const {
    double samples = 0;
    for (const SeenStack& stack : stacks) {
      if (stack.section != section || (!innermost.empty() && stack.functions.back() != innermost)) continue;
      samples += static_cast<double>(stack.samples);
    }
    return samples;
  }
  double Samples() const {
    double samples = 0;
    for (const SeenStack& stack : stacks) samples += static_cast<double>(stack.samples);
    return samples;
  }
  double Share(const std::string& section, const std::string& innermost) const {
    return Samples(section, innermost) / Samples(section);
  }
  /// One standard deviation of a share.
  double Error(const std::string& section, double share) const {
    double squares = 0;
    for (const SeenStack& stack : stacks) squares += stack.section == section ? static_cast<double>(stack.squares) : 0;
    return std::sqrt(share * (1 - share) * squares) / Samples(section);
  }
};

inline Seen StacksOf(const RecordLog& log) {
  Seen seen;
  for (const std::string& text : log.lines) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (line.at("type") == "end") seen.lost_samples = line.value("lost_samples", std::uint64_t{0});
    if (line.at("type") != "stacks") continue;
    if (line.contains("refused")) {
      seen.refused.push_back(line.at("refused"));
      continue;
    }
    for (const nlohmann::json& module : line.at("modules")) seen.modules.push_back(module);
    for (const nlohmann::json& row : line.at("stacks")) {
      SeenStack stack;
      stack.dataset = line.at("dataset").is_null() ? "" : line.at("dataset").get<std::string>();
      stack.section = line.at("section");
      stack.samples = row.at(0);
      stack.squares = row.at(1);
      for (std::size_t i = 2; i < row.size(); ++i) {
        stack.functions.push_back(line.at("functions").at(row.at(i).get<std::size_t>()).at(0));
      }
      seen.stacks.push_back(stack);
    }
  }
  return seen;
}

}  // namespace testing
}  // namespace crema
