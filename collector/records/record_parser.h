// Turns one line of a record log into a fact.
#pragma once

#include <memory>

#include "collector/records/facts.h"

namespace crema {

// Each reads a line without escapes and with text in ASCII, from the table of its fields (record_fields.h); quickest
// where they are in the order of the format, without blanks, as the SDK writes them. Names are views into the line.
// False says that it is not such a line, and nothing else about it: the general parser is to read it, and `fact` holds
// nothing of use. True: the fact is what the general parser would say. The line is followed by 64 readable bytes.

bool ReadPlainChunk(std::string_view line, ChunkFact& fact);
bool ReadPlainBegin(std::string_view line, BeginFact& fact);

enum class ParseOutcome {
  kRecord,       // `record()` holds it
  kUnknownType,  // well formed, of a type that this version does not know: to be counted and ignored
  kTorn,         // the beginning of a record whose rest was never written
  kMalformed,    // not a record: `reason()` says why
  kOtherSchema,  // a process line of another major schema: nothing in the log may be read
};

/// Parses lines in any field order; unknown fields are ignored, `null` is as good as absent, types are checked.
/// Reuses its memory: a chunk line costs no allocation once lines as large were seen. Not thread-safe.
class RecordParser {
 public:
  /// This many bytes after a line must be readable; what they hold does not matter.
  static constexpr size_t kPadding = 64;

  RecordParser();
  ~RecordParser();

  /// Parses one line without its newline. `line.data() + line.size()` is followed by `kPadding` readable bytes.
  ParseOutcome Parse(std::string_view line);
  /// As `Parse`, without the short cut for lines that are written as the SDK writes them. Says the same, later.
  ParseOutcome ParseGeneral(std::string_view line);
  /// As `Parse`, from text without padding (copies it).
  ParseOutcome ParseCopy(std::string_view line);

  /// The record of the last `kRecord`; its views hold until the next call, and as long as the line.
  const Record& record() const { return record_; }
  Record& record() { return record_; }
  /// What is wrong with the last line, as half a sentence; the schema's name after `kOtherSchema`.
  const std::string& reason() const { return reason_; }

 private:
  struct Json;
  std::unique_ptr<Json> json_;
  std::string copy_;
  Record record_;
  std::string reason_;
};

}  // namespace crema
