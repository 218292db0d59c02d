// What the formatter writes of numbers around every border of its rules: number_cases.json, which the pages' formatter
// has to write too (tests/browser/numbers_test.py).
//
// After a wanted change, look at the difference and keep it:
//   CREMA_UPDATE_GOLDEN=1 bazel run //collector/format:format_test
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "collector/format/human_numbers.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string PathOfCases() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return (workspace == nullptr ? "" : std::string(workspace) + "/") + "collector/format/number_cases.json";
}

/// Numbers of all sizes, with those around powers of 10 and 1024, minutes and hours, and some that end in a 5.
std::vector<double> Numbers() {
  std::vector<double> numbers = {0,      59.949,  59.951, 3599.4,  3599.6,  86399.6, 184800,  377.2,  0.125,  0.25,
                                 2.125,  12.5,    20000,  99999,   99999.5, 553210,  2.739,   1023.4, 1023.6, 1048576,
                                 123456, 1234567, 0.9997, 0.99996, 1.0003,  1.00001, 0.00042, 0.0995, 0.09949};
  double power = 1e-10;
  for (int exponent = -10; exponent <= 13; ++exponent, power *= 10) {
    for (const double factor : {1.0, 1.7664, 9.9951}) {
      // as they are written, so that both sides read the same number
      numbers.push_back(Json::parse(Json(factor * power).dump()).get<double>());
    }
  }
  const size_t positive = numbers.size();
  for (size_t at = 1; at < positive; at += 9) numbers.push_back(-numbers[at]);
  return numbers;
}

struct Function {
  std::string_view name;  ///< in the script
  std::string (*words)(double);
};

/// One case a line: the function, its arguments, what it writes.
std::string Cases() {
  const std::vector<Function> functions = {
      {"humanDuration", HumanDuration}, {"humanClock", HumanClock},   {"humanCount", HumanCount},
      {"humanRate", HumanRate},         {"humanMemory", HumanMemory}, {"humanBitRate", HumanBitRate},
      {"humanFactor", HumanFactor},     {"humanNumber", HumanNumber}, {"exactCount", ExactCount},
      {"humanPercent", HumanPercent},
  };
  std::string text;
  const auto add = [&text](std::string_view name, const Json& arguments, const Json& written) {
    text += (text.empty() ? "[" : ",\n") + Json::array({name, arguments, written}).dump();
  };
  for (const Function& function : functions) {
    for (const double number : Numbers()) add(function.name, Json::array({number}), function.words(number));
  }
  for (const double number : Numbers()) {
    for (const int decimals : {0, 1, 2}) {
      add("humanPercent", Json::array({number, decimals}), HumanPercent(number, decimals));
    }
    for (const double most : {4.0, 8.0}) {
      if (number > 0) add("roundTimeStep", Json::array({number, most}), RoundTimeStep(number, most));
    }
  }
  return text + "]\n";
}

TEST(NumberCases, AreWhatTheFormatterWrites) {
  const std::string cases = Cases();
  if (std::getenv("CREMA_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(PathOfCases()) << cases;
    return;
  }
  std::ifstream in(PathOfCases());
  const std::string kept{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(cases == kept) << "number_cases.json differs; to accept: CREMA_UPDATE_GOLDEN=1 bazel run "
                             << "//collector/format:format_test";
}

}  // namespace
}  // namespace crema
