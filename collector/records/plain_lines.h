// A short cut for the lines that make up nearly all of a record log.
#ifndef CREMA_COLLECTOR_RECORDS_PLAIN_LINES_H_
#define CREMA_COLLECTOR_RECORDS_PLAIN_LINES_H_

#include <string_view>

#include "collector/records/facts.h"

namespace crema {

// Each reads a line without escapes and with text in ASCII, from the table of its fields (record_fields.h); quickest
// where they stand in the order of the format, without blanks, as the SDK writes them. Names are views into the line.
// False says that it is not such a line, and nothing else about it: the general parser is to read it, and `fact` holds
// nothing of use. True: the fact is what the general parser would say. The line is followed by 64 readable bytes.

bool ReadPlainChunk(std::string_view line, ChunkFact& fact);
bool ReadPlainBegin(std::string_view line, BeginFact& fact);

}  // namespace crema

#endif  // CREMA_COLLECTOR_RECORDS_PLAIN_LINES_H_
