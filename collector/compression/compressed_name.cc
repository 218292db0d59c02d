#include "collector/compression/compressed_name.h"

namespace crema {

std::string_view NameBeforeCompression(std::string_view name) {
  for (const std::string_view ending : {std::string_view(".gz"), std::string_view(".zst")}) {
    if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
    return name.substr(0, name.size() - ending.size());
  }
  return name;
}

}  // namespace crema
