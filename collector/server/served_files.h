// The page and its parts, as they are built into the program from page/.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace crema {

struct ServedFile {
  std::string_view path;
  std::string_view type;  ///< MIME type
  std::string_view text;
};

absl::Span<const ServedFile> ServedFiles();

}  // namespace crema
