// Names of files that were compressed.
#ifndef CREMA_COLLECTOR_COMPRESSION_COMPRESSED_NAME_H_
#define CREMA_COLLECTOR_COMPRESSION_COMPRESSED_NAME_H_

#include <string_view>

namespace crema {

/// `x.jsonl` of `x.jsonl.gz`, `x.jsonl.zst` and `x.jsonl`.
std::string_view NameBeforeCompression(std::string_view name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_COMPRESSION_COMPRESSED_NAME_H_
