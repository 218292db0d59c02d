// Cursor: reads numbers and pointers as they stand in the tables of .eh_frame.
#ifndef CREMA_SRC_STACKS_UNWIND_CURSOR_H_
#define CREMA_SRC_STACKS_UNWIND_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace crema {
namespace internal {

// How a pointer stands in a table (LSB 5.0, 10.5.1).
inline constexpr std::uint8_t kOmitted = 0xff;
inline constexpr std::uint8_t kFormatMask = 0x0f;
inline constexpr std::uint8_t kAbsolute = 0x00;
inline constexpr std::uint8_t kUnsigned4 = 0x03;
inline constexpr std::uint8_t kUnsigned8 = 0x04;
inline constexpr std::uint8_t kSigned4 = 0x0b;
inline constexpr std::uint8_t kSigned8 = 0x0c;
inline constexpr std::uint8_t kRelativeToPlace = 0x10;
inline constexpr std::uint8_t kRelationMask = 0x70;
inline constexpr std::uint8_t kSortedTable = 0x3b;  // relative to the header, 4 bytes, signed

template <class Value>
Value Load(const unsigned char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Reads a piece of a table; once it is beyond the end, only zeros.
class Cursor {
 public:
  Cursor(const unsigned char* at, const unsigned char* end) : at_(at), end_(end) {}

  bool AtEnd() const { return at_ >= end_; }
  bool ok() const { return ok_; }
  const unsigned char* at() const { return at_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  template <class Value>
  Value Take() {
    if (left() < sizeof(Value)) {
      Fail();
      return Value();
    }
    const Value value = Load<Value>(at_);
    at_ += sizeof(Value);
    return value;
  }
  void Skip(std::uint64_t bytes) {
    if (left() < bytes) return Fail();
    at_ += bytes;
  }
  /// A number of any length, 7 bits a byte.
  std::uint64_t Unsigned() { return TakeNumber().value; }
  std::int64_t Signed() {
    Number number = TakeNumber();
    if (number.bits < 64 && (number.last & 0x40) != 0) number.value |= ~std::uint64_t{0} << number.bits;
    return static_cast<std::int64_t>(number.value);
  }
  /// A pointer of this encoding, or only its value if it is not `is_relative`.
  std::uintptr_t Pointer(std::uint8_t encoding, bool is_relative = true) {
    const auto place = reinterpret_cast<std::uintptr_t>(at_);
    std::uintptr_t value = 0;
    switch (encoding & kFormatMask) {
      case kAbsolute:
      case kUnsigned8:
      case kSigned8:
        value = Take<std::uint64_t>();
        break;
      case kUnsigned4:
        value = Take<std::uint32_t>();
        break;
      case kSigned4:
        value = static_cast<std::uintptr_t>(static_cast<std::intptr_t>(Take<std::int32_t>()));
        break;
      default:
        Fail();
    }
    const std::uint8_t relation = encoding & kRelationMask;
    if (!is_relative || relation == 0) return value;
    if (relation != kRelativeToPlace) Fail();
    return value + place;
  }

 private:
  struct Number {
    std::uint64_t value = 0;
    unsigned bits = 0;
    std::uint8_t last = 0;
  };
  Number TakeNumber() {
    Number number;
    do {
      number.last = Take<std::uint8_t>();
      if (number.bits < 64) number.value |= static_cast<std::uint64_t>(number.last & 0x7f) << number.bits;
      number.bits += 7;
    } while ((number.last & 0x80) != 0);
    return number;
  }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  const unsigned char* at_;
  const unsigned char* end_;
  bool ok_ = true;
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_STACKS_UNWIND_CURSOR_H_
