// Single chunk attempts on the terminal: `crema show --table chunks --sort ...`.
#ifndef CREMA_COLLECTOR_WRITERS_CHUNK_LIST_H_
#define CREMA_COLLECTOR_WRITERS_CHUNK_LIST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "collector/writers/terminal_style.h"
#include "nlohmann/json.hpp"

namespace crema {

struct ChunkListing {
  nlohmann::ordered_json rows;  ///< the attempts, in order; fields as in `crema export --to chunks`
  std::string sorted_by;
  int64_t matched = 0;                  ///< of these many that match the rows are the first
  int64_t seen = 0;                     ///< of these many in all
  int64_t summed = 0;                   ///< beside these: they have no line of their own
  std::optional<int64_t> run_start_ns;  ///< Unix time; starts are shown from here on
};

/// The rows as a table, and how many there are that it does not show.
std::string RenderChunkList(const ChunkListing& listing, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_CHUNK_LIST_H_
