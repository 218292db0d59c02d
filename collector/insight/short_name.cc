#include "collector/insight/short_name.h"

#include <cctype>
#include <cstddef>

namespace crema {
namespace {

constexpr size_t kMostBytes = 60;

bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// A character of a name, seen from a sentence: a full stop or colon ends one where no letter follows.
bool IsOfName(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  if (std::isalnum(byte) != 0 || byte >= 0x80 || std::string_view("_-/@").find(text[at]) != std::string_view::npos) {
    return true;
  }
  return (text[at] == '.' || text[at] == ':') && at + 1 < text.size() && std::isalnum(text[at + 1]) != 0;
}

}  // namespace

bool NamesIt(std::string_view sentence, std::string_view name) {
  const std::string shown = ShortName(name);
  for (size_t at = sentence.find(shown); at != std::string_view::npos; at = sentence.find(shown, at + 1)) {
    const bool begins = at == 0 || sentence[at - 1] == ' ' || sentence[at - 1] == '(';
    if (begins && !IsOfName(sentence, at + shown.size())) return true;
  }
  return false;
}

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
