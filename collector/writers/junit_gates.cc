#include "collector/writers/junit_gates.h"

#include <algorithm>

#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// For an attribute in double quotes.
std::string Quoted(const std::string& text) {
  std::string quoted;
  for (const char sign : PlainLine(text)) {
    switch (sign) {
      case '&':
        quoted += "&amp;";
        break;
      case '<':
        quoted += "&lt;";
        break;
      case '>':
        quoted += "&gt;";
        break;
      case '"':
        quoted += "&quot;";
        break;
      default:
        quoted += sign;
    }
  }
  return quoted;
}

}  // namespace

std::string GatesAsJunit(const std::vector<JudgedGate>& gates) {
  const auto fell = std::count_if(gates.begin(), gates.end(), [](const JudgedGate& gate) { return gate.result.fell; });
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", gates.size(), fell);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n <testsuite name=\"crema compare\" {0}>\n",
      counts);
  for (const JudgedGate& gate : gates) {
    const std::string words = Quoted(gate.result.sentence);
    xml += fmt::format("  <testcase classname=\"crema.compare\" name=\"{}\">\n", Quoted(gate.text));
    xml += gate.result.fell ? fmt::format("   <failure message=\"{0}\">{0}</failure>\n", words)
                            : fmt::format("   <system-out>{}</system-out>\n", words);
    xml += "  </testcase>\n";
  }
  return xml + " </testsuite>\n</testsuites>\n";
}

}  // namespace crema
