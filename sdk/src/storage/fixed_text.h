// FixedText: text in place. What recording begins and ends with must not need a heap: memory may be refused then, and
// the standard library's strings would throw into the program that is measured.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace crema::internal {

/// At most `kMostBytes` bytes; what is longer is cut there, not on a code point.
template <std::size_t kMostBytes>
class FixedText {
 public:
  FixedText() noexcept = default;
  explicit FixedText(std::string_view text) noexcept { Append(text); }

  void Append(std::string_view text) noexcept {
    const std::string_view kept = text.substr(0, kMostBytes - size_);
    if (!kept.empty()) std::memcpy(text_ + size_, kept.data(), kept.size());
    SetSize(size_ + kept.size());
  }
  void CutTo(std::size_t size) noexcept { SetSize(size < size_ ? size : size_); }

  bool empty() const noexcept { return size_ == 0; }
  std::string_view view() const noexcept { return {text_, size_}; }
  const char* c_str() const noexcept { return text_; }

 private:
  void SetSize(std::size_t size) noexcept {
    size_ = size;
    text_[size_] = '\0';
  }

  char text_[kMostBytes + 1] = {};
  std::size_t size_ = 0;
};

}  // namespace crema::internal
