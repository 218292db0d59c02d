#include "collector/records/plain_lines.h"

#include "collector/records/record_fields.h"

namespace crema {
namespace {

/// The whole line is an object of the table.
template <const auto& kTable, class Fact>
bool TakeLine(std::string_view text, Fact& fact) {
  PlainCursor line(text);
  if (!line.GoTo(json::TakeObject<kTable>(line, fact))) return false;
  line.SkipBlanks();
  return line.AtEnd();
}

}  // namespace

bool ReadPlainChunk(std::string_view line, ChunkFact& fact) {
  return TakeLine<json::kChunkFields>(line, fact) && fact.stop_ns >= fact.start_ns;
}

bool ReadPlainBegin(std::string_view line, BeginFact& fact) { return TakeLine<json::kBeginFields>(line, fact); }

}  // namespace crema
