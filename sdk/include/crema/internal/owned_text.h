// OwnedText: text that lives as long as what holds it.
#ifndef CREMA_INTERNAL_OWNED_TEXT_H_
#define CREMA_INTERNAL_OWNED_TEXT_H_

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "crema/internal/platform.h"  // IWYU pragma: keep: says what is needed before C++17

namespace crema::internal {

/// As malloc(3), for memory that is not the program's. Leaves errno as it was.
#ifdef CREMA_COMPILED_OUT  // there is no library then, and nobody counts
inline void* AllocateOwn(std::size_t bytes) noexcept {
  const KeptErrno kept_errno;
  return std::malloc(bytes);
}
#else
void* AllocateOwn(std::size_t bytes) noexcept;
#endif

/// A copy of a text, short ones in place. Reads as a `std::string_view`. Never throws, calls no `new` of the host's and
/// leaves `errno` alone: where memory is refused it is empty, and `is_lost()`.
class OwnedText {
 public:
  OwnedText() noexcept = default;
  OwnedText(std::string_view text) noexcept { Assign(text); }  // NOLINT(google-explicit-constructor)
  OwnedText(const std::string& text) noexcept : OwnedText(std::string_view(text)) {}  // NOLINT: as above
  OwnedText(const char* text) noexcept                                                // NOLINT: as above
      : OwnedText(text == nullptr ? std::string_view() : std::string_view(text)) {}
  OwnedText(const OwnedText& other) noexcept : is_lost_(other.is_lost_) { Assign(other); }
  OwnedText(OwnedText&& other) noexcept { Take(other); }
  OwnedText& operator=(const OwnedText& other) noexcept {
    if (this == &other) return *this;
    Free();
    is_lost_ = other.is_lost_;
    Assign(other);
    return *this;
  }
  OwnedText& operator=(OwnedText&& other) noexcept {
    if (this == &other) return *this;
    Free();
    Take(other);
    return *this;
  }
  ~OwnedText() { Free(); }

  operator std::string_view() const noexcept { return view(); }  // NOLINT(google-explicit-constructor)
  std::string_view view() const noexcept { return {data(), size_}; }
  const char* data() const noexcept { return memory_ != nullptr ? memory_ : in_place_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool is_lost() const noexcept { return is_lost_; }
  friend bool operator==(const OwnedText& text, std::string_view other) noexcept { return text.view() == other; }
  friend bool operator!=(const OwnedText& text, std::string_view other) noexcept { return !(text == other); }
  template <typename Stream>
  friend Stream& operator<<(Stream& stream, const OwnedText& text) {
    stream << text.view();
    return stream;
  }

 private:
  void Assign(std::string_view text) noexcept {
    if (text.size() > sizeof in_place_) {
      memory_ = static_cast<char*>(AllocateOwn(text.size()));
      is_lost_ = memory_ == nullptr;
      if (is_lost_) return;
    }
    size_ = text.size();
    if (size_ > 0) std::memcpy(memory_ != nullptr ? memory_ : in_place_, text.data(), size_);
  }
  void Take(OwnedText& other) noexcept {
    memory_ = std::exchange(other.memory_, nullptr);
    size_ = std::exchange(other.size_, 0);
    is_lost_ = other.is_lost_;
    if (memory_ == nullptr) std::memcpy(in_place_, other.in_place_, size_);
  }
  void Free() noexcept {
    if (memory_ != nullptr) std::free(memory_);  // hardly ever: not worth a call
    memory_ = nullptr;
    size_ = 0;
    is_lost_ = false;
  }

  char* memory_ = nullptr;
  std::size_t size_ = 0;
  bool is_lost_ = false;
  char in_place_[39];
};

}  // namespace crema::internal

#endif  // CREMA_INTERNAL_OWNED_TEXT_H_
