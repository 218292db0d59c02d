#include "examples/zjets/lhe_file.h"

#include <algorithm>
#include <stdexcept>

#include "crema/crema.h"
#include "fmt/format.h"

namespace zjets {
namespace {

/// An access point costs 32 KiB of memory; the deflate blocks of such files yield about 170 KiB each.
constexpr std::uint64_t kAccessPointSpacing = std::uint64_t{128} * 1024;

constexpr std::uint64_t kUnknownOffset = UINT64_MAX;

bool StartsWithTag(std::string_view line, std::string_view tag) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line.compare(first, tag.size(), tag) != 0) return false;
  const std::string_view rest = line.substr(first + tag.size());
  return rest.empty() || std::string_view("> \t\r").find(rest.front()) != std::string_view::npos;
}

/// Finds the <init> block and the events in text that arrives in pieces.
class LheScanner {
 public:
  void Add(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      if (end == std::string_view::npos) {
        partial_line_ += piece;
        return;
      }
      const std::string_view rest_of_line = piece.substr(0, end);
      if (partial_line_.empty()) {
        AddLine(rest_of_line);
      } else {
        partial_line_ += rest_of_line;
        AddLine(partial_line_);
        partial_line_.clear();
      }
      piece.remove_prefix(end + 1);
    }
  }

  /// Moves what was found into `file`.
  void Finish(LheFile* file) {
    if (!partial_line_.empty()) {  // the file does not end with a newline
      AddLine(partial_line_);
      end_of_event_ = std::min(end_of_event_, offset_ - 1);
    }
    file->event_offsets = std::move(event_offsets_);
    if (inside_event_ && file->gzip.damage.empty()) file->gzip.damage = file->path + ": ends inside an event";
    if (!file->event_offsets.empty()) {
      file->event_offsets.push_back(file->gzip.damage.empty() ? end_of_event_ : kUnknownOffset);
    }
    if (!after_init_) return;
    try {
      file->init = ParseLheInit(init_);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: <init> block: {}", file->path, error.what()));
    }
  }

 private:
  void AddLine(std::string_view line) {
    const std::uint64_t start = offset_;
    offset_ += line.size() + 1;
    if (!after_init_) {
      AddHeaderLine(line);
    } else if (StartsWithTag(line, "<event")) {
      event_offsets_.push_back(start);
      inside_event_ = true;
    } else if (StartsWithTag(line, "</event")) {
      end_of_event_ = offset_;
      inside_event_ = false;
    }
  }
  void AddHeaderLine(std::string_view line) {
    if (inside_init_ && StartsWithTag(line, "</init")) {
      after_init_ = true;
    } else if (inside_init_) {
      init_.append(line).append("\n");
    } else {
      inside_init_ = StartsWithTag(line, "<init");
    }
  }

  std::string partial_line_;
  std::uint64_t offset_ = 0;  ///< of the line that comes next
  bool inside_init_ = false;
  bool after_init_ = false;
  bool inside_event_ = false;
  std::string init_;
  std::vector<std::uint64_t> event_offsets_;
  std::uint64_t end_of_event_ = 0;
};

}  // namespace

LheFile IndexLheFile(const std::string& path) {
  LheFile file;
  file.path = path;
  LheScanner scanner;
  try {
    file.gzip = BuildGzipIndex(path, kAccessPointSpacing, [&](std::string_view piece) {
      crema::TrackSection section("scan");
      scanner.Add(piece);
    });
    scanner.Finish(&file);
    if (file.event_offsets.empty() && file.gzip.damage.empty()) {
      file.gzip.damage = path + ": holds no events after an <init> block; is it a Les Houches event file?";
    }
  } catch (const std::runtime_error& error) {
    file.gzip.damage = error.what();
    file.event_offsets.clear();
  }
  return file;
}

std::string ReadLheText(const LheFile& file, std::int64_t first, std::int64_t last, ReadCosts* costs) {
  if (file.events() == 0) throw std::runtime_error(file.gzip.damage);
  const std::uint64_t start = file.event_offsets.at(static_cast<std::size_t>(first));
  const std::uint64_t stop = file.event_offsets.at(static_cast<std::size_t>(last));
  if (stop == kUnknownOffset) throw std::runtime_error(file.gzip.damage);
  return ReadGzipRange(file.path, file.gzip, start, stop, costs);
}

std::vector<LheEvent> ParseLheEvents(const LheFile& file, std::int64_t first, std::int64_t last,
                                     std::string_view text) {
  std::vector<LheEvent> events;
  events.reserve(static_cast<std::size_t>(last - first));
  const std::uint64_t text_start = file.event_offsets.at(static_cast<std::size_t>(first));
  for (std::int64_t event = first; event < last; ++event) {
    const std::uint64_t start = file.event_offsets.at(static_cast<std::size_t>(event));
    const std::uint64_t stop = file.event_offsets.at(static_cast<std::size_t>(event) + 1);
    try {
      events.push_back(ParseLheEvent(text.substr(start - text_start, stop - start)));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: event {}: {}", file.path, event, error.what()));
    }
  }
  return events;
}

void Write(const LheFile& file, ByteWriter& out) {
  out.PutString(file.path);
  out.Put(file.init.weight_strategy);
  out.Put(file.init.cross_section_pb);
  out.PutVector(file.event_offsets);
  Write(file.gzip, out);
}

LheFile ReadLheFile(ByteReader& in) {
  LheFile file;
  file.path = in.GetString();
  file.init.weight_strategy = in.Get<int>();
  file.init.cross_section_pb = in.Get<double>();
  file.event_offsets = in.GetVector<std::uint64_t>();
  file.gzip = ReadGzipIndex(in);
  return file;
}

}  // namespace zjets
