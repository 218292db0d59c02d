// LheFile: a gzipped Les Houches event file of which any range of events can be read.
#ifndef CREMA_EXAMPLES_ZJETS_LHE_FILE_H_
#define CREMA_EXAMPLES_ZJETS_LHE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examples/zjets/byte_stream.h"
#include "examples/zjets/gzip_index.h"
#include "examples/zjets/gzip_range.h"
#include "examples/zjets/lhe_event.h"

namespace zjets {

/// The facts of a file after one pass through it.
struct LheFile {
  std::string path;
  LheInit init;
  std::vector<std::uint64_t> event_offsets;  ///< of each event's first byte, and of the end of the last event
  GzipIndex gzip;

  std::int64_t events() const {
    return event_offsets.empty() ? 0 : static_cast<std::int64_t>(event_offsets.size()) - 1;
  }
};

/// Goes through the file once. Never throws because of the file: `gzip.damage` describes the part that cannot be read.
/// The event with the damage is counted, so that reading it fails and is noticed. A completely unreadable file has no
/// events.
LheFile IndexLheFile(const std::string& path);

/// The text of events [first, last). Throws std::runtime_error when it cannot be read.
std::string ReadLheText(const LheFile& file, std::int64_t first, std::int64_t last, ReadCosts* costs);

/// The events in a text that `ReadLheText` gave for the same range. Throws std::runtime_error with file and event.
std::vector<LheEvent> ParseLheEvents(const LheFile& file, std::int64_t first, std::int64_t last, std::string_view text);

void Write(const LheFile& file, ByteWriter& out);
LheFile ReadLheFile(ByteReader& in);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_LHE_FILE_H_
