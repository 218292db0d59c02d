// ByteWriter and ByteReader: values as bytes, for messages between processes of the same program.
#ifndef CREMA_EXAMPLES_ZJETS_BYTE_STREAM_H_
#define CREMA_EXAMPLES_ZJETS_BYTE_STREAM_H_

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace zjets {

/// Appends values in memory order: for the same program on the same machine, never for files.
class ByteWriter {
 public:
  template <class Value>
  void Put(const Value& value) {
    static_assert(std::is_trivially_copyable<Value>::value, "only plain values have bytes that mean something");
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void PutString(std::string_view text) {
    Put<std::uint64_t>(text.size());
    bytes_.append(text);
  }
  template <class Value>
  void PutVector(const std::vector<Value>& values) {
    Put<std::uint64_t>(values.size());
    for (const Value& value : values) Put(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Takes them out in the same order. Throws std::runtime_error when there are too few bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class Value>
  Value Get() {
    static_assert(std::is_trivially_copyable<Value>::value, "only plain values have bytes that mean something");
    Value value;
    std::memcpy(&value, Take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string GetString() { return std::string(Take(Get<std::uint64_t>())); }
  template <class Value>
  std::vector<Value> GetVector() {
    std::vector<Value> values(Get<std::uint64_t>());
    for (Value& value : values) value = Get<Value>();
    return values;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view Take(std::size_t size) {
    if (size > rest_.size()) throw std::runtime_error("message between processes is cut short");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_BYTE_STREAM_H_
