// SharedValue: a value that a child process returns to the test that started it.
#pragma once

#include <sys/mman.h>

#include <new>
#include <type_traits>

namespace crema {
namespace testing {

/// A plain value in memory that this process and its children share (mmap(2), MAP_SHARED).
template <class Value>
class SharedValue {
  static_assert(std::is_trivially_destructible<Value>::value, "the child's copy is never destroyed");

 public:
  SharedValue()
      : value_(new (mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Value()) {}
  ~SharedValue() { munmap(static_cast<void*>(value_), sizeof(Value)); }
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;

  Value* operator->() const { return value_; }
  Value& operator*() const { return *value_; }

 private:
  Value* value_;
};

}  // namespace testing
}  // namespace crema
