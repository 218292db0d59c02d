// Parts of texts, for std::string_view: C++17 has none of these, and Debian's Abseil takes a string_view of its own.
#pragma once

#include <string>
#include <string_view>

namespace crema {

constexpr bool BeginsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

constexpr bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Without the blanks and ends of lines around it.
inline std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// What follows the last '/' of a path, which may be one of sections; all of it where there is none.
inline std::string_view LastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Whether a byte of UTF-8 is not the first of its character.
constexpr bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// At most `most` bytes, with whole UTF-8 characters, and `…` where there is more.
inline std::string CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && ContinuesCharacter(text[most])) --most;
  return std::string(text.substr(0, most)) + "…";
}

}  // namespace crema
