// A record log of any bytes: the short cut reads the same as the general parser, every line is counted once, and the
// rest (figures, document, verdicts) copes with whatever was read.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/measurement/measurement.h"
#include "collector/metrics/measure.h"
#include "collector/records/fact_text_fixture.h"
#include "collector/records/record_parser.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/scratch_directory.h"

namespace crema {
namespace {

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// The types with a short cut.
std::string TextOf(const Record& record) {
  FactText text;
  if (record.type == RecordType::kChunk) text.Put(record.chunk);
  if (record.type == RecordType::kBegin) text.Put(record.begin);
  return text.text();
}

void CompareParsers(std::string_view line) {
  static RecordParser fast;
  static RecordParser general;
  static std::string padded;
  padded.assign(line);
  padded.append(RecordParser::kPadding, ' ');
  const std::string_view text(padded.data(), line.size());
  const ParseOutcome outcome = general.ParseGeneral(text);
  Check(fast.Parse(text) == outcome, "both parsers say the same of a line");
  if (outcome == ParseOutcome::kRecord) {
    Check(TextOf(fast.record()) == TextOf(general.record()), "both parsers read the same record");
  }
}

/// Lines that are not blank; the last one needs no newline.
int64_t CompareLines(std::string_view log) {
  int64_t lines = 0;
  while (!log.empty()) {
    const size_t newline = log.find('\n');
    const std::string_view line = log.substr(0, newline);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      ++lines;
      CompareParsers(line);
    }
    log.remove_prefix(newline == std::string_view::npos ? log.size() : newline + 1);
  }
  return lines;
}

}  // namespace
}  // namespace crema

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crema;
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  const int64_t lines = CompareLines(log);
  MeasureOptions options;
  options.sources = {WriteScratch("host-1-1-0.jsonl", log)};
  options.run = "all";
  absl::StatusOr<MeasuredRun> measured = Measure(options);
  if (!measured.ok()) return 0;
  AddInsight(&measured->measurement);
  const nlohmann::ordered_json document = JsonOf(measured->measurement);
  const auto& quality = document["quality"];
  int64_t counted = 0;
  for (const char* key : {"records_read", "records_malformed", "records_torn", "records_unknown"}) {
    counted += quality[key].get<int64_t>();
  }
  const bool refused = quality["warnings"].dump().find("schema") != std::string::npos;  // nothing after it is read
  Check(refused ? counted <= lines : counted == lines, "every line is counted once");
  document.dump();
  return 0;
}
