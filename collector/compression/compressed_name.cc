#include "collector/compression/compressed_name.h"

namespace crema {
namespace {

bool EndsWith(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
}

}  // namespace

std::string_view NameBeforeCompression(std::string_view name) {
  for (const std::string_view suffix : {std::string_view(".gz"), std::string_view(".zst")}) {
    if (name.size() > suffix.size() && EndsWith(name, suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

bool HasSuffixBeforeCompression(std::string_view name, std::string_view suffix) {
  return EndsWith(NameBeforeCompression(name), suffix);
}

}  // namespace crema
