#include "collector/benchmarks/readers.h"

#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "collector/metrics/measure.h"
#include "collector/records/record_parser.h"
#include "collector/sources/record_log.h"

namespace crema_benchmarks {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr size_t kBlockBytes = 256 << 10;

// Calls `on_block(data, size)` for each block of each file.
template <class OnBlock>
int64_t ReadBlocks(const std::vector<std::string>& paths, const OnBlock& on_block) {
  const std::unique_ptr<char[]> block(new char[kBlockBytes]);
  int64_t bytes = 0;
  for (const std::string& path : paths) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    for (ssize_t got; (got = read(fd, block.get(), kBlockBytes)) > 0; bytes += got) {
      on_block(block.get(), static_cast<size_t>(got));
    }
    close(fd);
  }
  return bytes;
}

Seen ReadOnly(const std::vector<std::string>& paths) {
  Seen seen;
  seen.bytes = ReadBlocks(paths, [](const char*, size_t) {});
  return seen;
}

Seen ScanLines(const std::vector<std::string>& paths) {
  Seen seen;
  seen.lines = 0;
  seen.bytes = ReadBlocks(paths, [&seen](const char* data, size_t size) {
    const char* const end = data + size;
    for (const char* at = data; (at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at))));
         ++at) {
      ++seen.lines;
    }
  });
  return seen;
}

// Calls `on_line(text)` for each line of each file.
template <class OnLine>
Seen ReadLines(const std::vector<std::string>& paths, const OnLine& on_line) {
  Seen seen;
  seen.lines = seen.chunks = seen.events = 0;
  for (const std::string& path : paths) {
    seen.bytes += static_cast<int64_t>(std::filesystem::file_size(path));
    crema::DecompressedFile file(path);
    const absl::StatusOr<int64_t> lines = crema::ForEachLine(file, crema::LogPart{}, [&](const crema::LogLine& line) {
      ++seen.lines;
      on_line(line.text, seen);
      return true;
    });
  }
  return seen;
}

void Count(const crema::Record& record, Seen& seen) {
  if (record.type != crema::RecordType::kChunk) return;
  ++seen.chunks;
  seen.events += record.chunk.events.value_or(0);
}

// A field of a chunk line, as simdjson is told to look for it.
struct Wanted {
  std::string_view key;
  enum class Kind { kType, kInteger, kUnsigned, kText, kSections } kind;
};

constexpr Wanted kWanted[] = {
    {"type", Wanted::Kind::kType},
    {"chunk", Wanted::Kind::kInteger},
    {"start_ns", Wanted::Kind::kInteger},
    {"stop_ns", Wanted::Kind::kInteger},
    {"status", Wanted::Kind::kText},
    {"events", Wanted::Kind::kInteger},
    {"bytes_read", Wanted::Kind::kInteger},
    {"bytes_uncompressed", Wanted::Kind::kInteger},
    {"cpu_ns", Wanted::Kind::kInteger},
    {"helper_cpu_ns", Wanted::Kind::kInteger},
    {"cpu_wait_ns", Wanted::Kind::kInteger},
    {"helper_wait_ns", Wanted::Kind::kInteger},
    {"helper_scope_ns", Wanted::Kind::kInteger},
    {"helper_union_ns", Wanted::Kind::kInteger},
    {"rss_start_bytes", Wanted::Kind::kInteger},
    {"rss_stop_bytes", Wanted::Kind::kInteger},
    {"rss_peak_bytes", Wanted::Kind::kInteger},
    {"io_read_bytes", Wanted::Kind::kInteger},
    {"open_chunks", Wanted::Kind::kInteger},
    {"lanes_peak", Wanted::Kind::kInteger},
    {"thread", Wanted::Kind::kUnsigned},
    {"tid", Wanted::Kind::kInteger},
    {"dataset", Wanted::Kind::kText},
    {"file", Wanted::Kind::kText},
    {"tree", Wanted::Kind::kText},
    {"entry_start", Wanted::Kind::kInteger},
    {"entry_stop", Wanted::Kind::kInteger},
    {"pass", Wanted::Kind::kText},
    {"span", Wanted::Kind::kText},
    {"error", Wanted::Kind::kText},
    {"sections", Wanted::Kind::kSections},
};

constexpr std::string_view kWantedOfSection[] = {"path", "count", "total_ns", "self_ns", "min_ns", "max_ns"};

struct FieldsOfLine {
  std::vector<Wanted> fields;
  std::vector<std::string_view> of_section;
};

size_t PlaceOf(std::string_view key, std::string_view line) { return line.find("\"" + std::string(key) + "\":"); }

// The fields of a chunk line that there are, as they follow one another: an ordered look-up of one that is not there
// would lose its place.
FieldsOfLine FieldsIn(std::string_view line) {
  std::map<size_t, Wanted> fields;
  std::map<size_t, std::string_view> of_section;
  for (const Wanted& field : kWanted) fields.emplace(PlaceOf(field.key, line), field);
  for (const std::string_view key : kWantedOfSection) of_section.emplace(PlaceOf(key, line), key);
  fields.erase(std::string_view::npos);
  of_section.erase(std::string_view::npos);
  FieldsOfLine found;
  for (const auto& [place, field] : fields) found.fields.push_back(field);
  for (const auto& [place, key] : of_section) found.of_section.push_back(key);
  return found;
}

uint64_t SumOfSection(ondemand::object row, const std::vector<std::string_view>& keys) {
  uint64_t sum = 0;
  for (const std::string_view key : keys) {
    ondemand::value value;
    int64_t number;
    std::string_view text;
    if (row.find_field(key).get(value)) continue;
    if (key == "path") {
      if (value.get_string().get(text) == simdjson::SUCCESS) sum += text.size();
    } else if (value.get_int64().get(number) == simdjson::SUCCESS) {
      sum += static_cast<uint64_t>(number);
    }
  }
  return sum;
}

// What is extracted of a chunk line goes into one sum, so that nothing is left out by the compiler.
uint64_t Extract(ondemand::object line, const FieldsOfLine& wanted, Seen& seen) {
  uint64_t sum = 0;
  int64_t events = 0;
  bool is_chunk = false;
  for (const Wanted& field : wanted.fields) {
    ondemand::value value;
    if (line.find_field(field.key).get(value)) continue;
    int64_t number = 0;
    uint64_t unsigned_number = 0;
    std::string_view text;
    ondemand::array rows;
    bool is_null = false;
    if (value.is_null().get(is_null) == simdjson::SUCCESS && is_null) continue;
    switch (field.kind) {
      case Wanted::Kind::kType:
        is_chunk = value.get_string().get(text) == simdjson::SUCCESS && text == "chunk";
        if (!is_chunk) return 0;
        break;
      case Wanted::Kind::kInteger:
        if (value.get_int64().get(number) == simdjson::SUCCESS) sum += static_cast<uint64_t>(number);
        if (field.key == "events") events = number;
        break;
      case Wanted::Kind::kUnsigned:
        if (value.get_uint64().get(unsigned_number) == simdjson::SUCCESS) sum += unsigned_number;
        break;
      case Wanted::Kind::kText:
        if (value.get_string().get(text) == simdjson::SUCCESS) sum += text.size();
        break;
      case Wanted::Kind::kSections:
        if (value.get_array().get(rows)) break;
        for (auto element : rows) {
          ondemand::object row;
          if (element.get_object().get(row) == simdjson::SUCCESS) sum += SumOfSection(row, wanted.of_section);
        }
        break;
    }
  }
  if (!is_chunk) return 0;
  ++seen.chunks;
  seen.events += events;
  return sum;
}

Seen ReadWithSimdjson(const std::vector<std::string>& paths) {
  ondemand::parser parser;
  FieldsOfLine fields;
  uint64_t sum = 0;
  Seen result = ReadLines(paths, [&](std::string_view line, Seen& seen) {
    ondemand::document document;
    ondemand::object object;
    const simdjson::padded_string_view padded(line.data(), line.size(), line.size() + crema::RecordParser::kPadding);
    if (parser.iterate(padded).get(document) || document.get_object().get(object)) return;
    if (fields.fields.empty()) {
      std::string_view type;
      if (object.find_field_unordered("type").get_string().get(type) || type != "chunk") return;
      if (object.reset().error()) return;
      fields = FieldsIn(line);
    }
    sum += Extract(object, fields, seen);
  });
  if (sum == 0) result.chunks = 0;
  return result;
}

Seen ParseGeneral(const std::vector<std::string>& paths) {
  crema::RecordParser parser;
  return ReadLines(paths, [&](std::string_view line, Seen& seen) {
    if (parser.ParseGeneral(line) == crema::ParseOutcome::kRecord) Count(parser.record(), seen);
  });
}

Seen Parse(const std::vector<std::string>& paths) {
  crema::RecordParser parser;
  return ReadLines(paths, [&](std::string_view line, Seen& seen) {
    if (parser.Parse(line) == crema::ParseOutcome::kRecord) Count(parser.record(), seen);
  });
}

Seen MeasureAll(const std::vector<std::string>& paths) {
  crema::MeasureOptions options;
  options.sources = {std::filesystem::path(paths.front()).parent_path().string()};
  const absl::StatusOr<crema::MeasuredRun> measured = crema::Measure(options);
  Seen seen;
  if (!measured.ok()) return seen;
  for (const std::string& path : paths) seen.bytes += static_cast<int64_t>(std::filesystem::file_size(path));
  const crema::Measurement& measurement = measured->measurement;
  seen.chunks = static_cast<int64_t>(measurement.Metric("num_chunks").value_or(0));
  seen.events = static_cast<int64_t>(measurement.Metric("total_events").value_or(0));
  return seen;
}

}  // namespace

const std::vector<Reader> kReaders = {
    {"read(2)", ReadOnly},         {"newline scan", ScanLines},
    {kSimdjson, ReadWithSimdjson}, {"crema: any valid line (simdjson)", ParseGeneral},
    {"crema: parse", Parse},       {kMeasurement, MeasureAll},
};

std::string SimdjsonImplementations() {
  return simdjson::get_active_implementation()->name() + " (first stage), " +
         simdjson::builtin_implementation()->name() + " (second)";
}

}  // namespace crema_benchmarks
