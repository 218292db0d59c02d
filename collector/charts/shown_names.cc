#include "collector/charts/shown_names.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostSigns = 60;
constexpr std::string_view kReplacement = "\uFFFD";

/// Bytes of the code point that begins at `at`; 0 where none does.
size_t SignLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if (length == 3 && ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) >= 0xA0))) return 0;
  if (length == 4 && ((first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) >= 0x90))) return 0;
  return length;
}

/// What would move other text about: controls, marks and overrides of direction, line separators.
bool IsUnprintable(std::string_view sign) {
  if (sign.size() == 1) return static_cast<uint8_t>(sign[0]) < 0x20 || sign[0] == 0x7F;
  if (sign == "\u061C" || sign == "\uFEFF") return true;
  if (sign.size() == 2) return sign[0] == '\xC2' && static_cast<uint8_t>(sign[1]) < 0xA0;
  if (sign.size() != 3 || sign[0] != '\xE2') return false;
  const auto second = static_cast<uint8_t>(sign[1]), third = static_cast<uint8_t>(sign[2]);
  return (second == 0x80 && ((third >= 0x8B && third <= 0x8F) || (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA0 && third <= 0xAF);
}

}  // namespace

std::string ShownName(std::string_view name) {
  std::vector<std::string_view> signs;
  for (size_t at = 0; at < name.size();) {
    const size_t length = SignLength(name, at);
    const std::string_view sign = length == 0 ? kReplacement : name.substr(at, length);
    signs.push_back(IsUnprintable(sign) ? " " : sign);
    at += length == 0 ? 1 : length;
  }
  if (signs.empty()) return "(no name)";
  std::string shown;
  const bool is_cut = signs.size() > kMostSigns;
  if (is_cut) shown = "…";
  for (size_t i = is_cut ? signs.size() - kMostSigns + 1 : 0; i < signs.size(); ++i) shown += signs[i];
  return shown;
}

std::string_view ShortestUniqueEnd(std::string_view path, const std::vector<std::string_view>& paths) {
  const auto has_end = [](std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  size_t slash = path.size() < 2 ? std::string_view::npos : path.rfind('/', path.size() - 2);
  for (; slash != std::string_view::npos && slash > 0; slash = path.rfind('/', slash - 1)) {
    const std::string_view end = path.substr(slash + 1), with_slash = path.substr(slash);
    if (std::none_of(paths.begin(), paths.end(), [&](std::string_view other) {
          return other != path && (other == end || has_end(other, with_slash));
        })) {
      return end;
    }
  }
  return path;
}

const std::string& ShownNames::Of(std::string_view name) {
  const auto found = shown_.find(name);
  if (found != shown_.end()) return found->second;
  const std::string shown = ShownName(name);
  std::string told_apart = shown;
  for (int number = 2; !taken_.insert(told_apart).second; ++number) told_apart = fmt::format("{} ({})", shown, number);
  return shown_.emplace(name, std::move(told_apart)).first->second;
}

}  // namespace crema
