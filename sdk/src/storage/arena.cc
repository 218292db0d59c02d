#include "storage/arena.h"

#include <cstdlib>
#include <cstring>

#include "storage/sdk_allocation_scope.h"

namespace crema {
namespace internal {
namespace {

constexpr std::size_t kBlockBytes = 16384;
constexpr std::size_t kAlignment = alignof(std::max_align_t);

}  // namespace

struct alignas(kAlignment) Arena::Block {
  Block* next = nullptr;
  std::size_t capacity = 0;
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
};

Arena::~Arena() {
  while (first_ != nullptr) {
    Block* next = first_->next;
    std::free(first_);
    first_ = next;
  }
}

void* Arena::Allocate(std::size_t bytes) noexcept {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  while (current_ == nullptr || used_ + rounded > current_->capacity) {
    Block* next = current_ == nullptr ? first_ : current_->next;
    if (next == nullptr) {
      const std::size_t capacity = rounded > kBlockBytes ? rounded : kBlockBytes;
      const SdkAllocationScope scope;
      void* memory = std::malloc(sizeof(Block) + capacity);
      if (memory == nullptr) return nullptr;
      next = new (memory) Block();
      next->capacity = capacity;
      (current_ == nullptr ? first_ : current_->next) = next;
    }
    current_ = next;
    used_ = 0;
  }
  void* piece = current_->bytes() + used_;
  used_ += rounded;
  return piece;
}

bool Arena::Copy(std::string_view text, std::string_view* copy) noexcept {
  *copy = {};
  if (text.empty()) return true;
  void* bytes = Allocate(text.size());
  if (bytes == nullptr) return false;
  std::memcpy(bytes, text.data(), text.size());
  *copy = {static_cast<const char*>(bytes), text.size()};
  return true;
}

void Arena::Clear() noexcept {
  current_ = first_;
  used_ = 0;
}

}  // namespace internal
}  // namespace crema
