#include "collector/insight/short_name.h"

#include <cstddef>

namespace crema {
namespace {

constexpr size_t kMostBytes = 60;

bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string ShortName(std::string_view name) {
  if (name.empty()) return "(none)";
  if (name.size() <= kMostBytes) return std::string(name);
  size_t begin = name.size() - kMostBytes;
  while (begin < name.size() && ContinuesCharacter(name[begin])) ++begin;
  // rather a whole component than half of one
  const size_t slash = name.find('/', begin);
  if (slash != std::string_view::npos && slash + 1 < name.size()) begin = slash;
  return "…" + std::string(name.substr(begin));
}

}  // namespace crema
