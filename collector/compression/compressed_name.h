// Names of files that were compressed.
#pragma once

#include <string_view>

namespace crema {

inline bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// `x.jsonl` of `x.jsonl.gz`, `x.jsonl.zst` and `x.jsonl`.
std::string_view NameBeforeCompression(std::string_view name);

/// Whether `name`, before compression, ends with `suffix`.
bool HasSuffixBeforeCompression(std::string_view name, std::string_view suffix);

}  // namespace crema
