#include "storage/arena.h"

#include <cstring>
#include <functional>

namespace crema::internal {
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

std::uint32_t* NameSet::Slot(std::string_view name) noexcept {
  const std::size_t mask = slots_.size() - 1;  // a power of two
  for (std::size_t i = std::hash<std::string_view>()(name) & mask;; i = (i + 1) & mask) {
    if (slots_[i] == 0 || names_[slots_[i] - 1] == name) return &slots_[i];
  }
}

bool NameSet::Grow() noexcept {
  const std::size_t before = slots_.size();
  const std::size_t size = before == 0 ? 64 : 2 * before;
  while (slots_.size() < size) {
    if (slots_.Add() == nullptr) {
      slots_.CutTo(before);
      return false;
    }
  }
  std::memset(slots_.begin(), 0, slots_.size() * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < names_.size(); ++i) *Slot(names_[i]) = static_cast<std::uint32_t>(i + 1);
  return true;
}

bool NameSet::Add(std::string_view name, Arena* texts) noexcept {
  if (Contains(name)) return true;
  if (names_.size() >= kMost) return false;
  if (2 * (names_.size() + 1) > slots_.size() && !Grow()) return false;
  std::string_view* row = names_.Add();
  if (row == nullptr) return false;
  if (!texts->Copy(name, row)) {
    names_.CutTo(names_.size() - 1);
    return false;
  }
  *Slot(name) = static_cast<std::uint32_t>(names_.size());
  return true;
}

void NameSet::Clear() noexcept {
  if (names_.size() != 0) std::memset(slots_.begin(), 0, slots_.size() * sizeof(std::uint32_t));
  names_.Clear();
}

}  // namespace crema::internal
