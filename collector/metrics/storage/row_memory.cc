#include "collector/metrics/storage/row_memory.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "collector/idioms/descriptor.h"

namespace crema {
namespace {

/// Its files would take the memory that they are to spare.
bool IsInMemory(int descriptor) {
  struct statfs system = {};
  return fstatfs(descriptor, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

// A run of few rows takes little; of many, each piece is a large page, of which the last is half empty on average.
constexpr size_t kLeastBytes = size_t{64} << 10;

constexpr size_t kLargePageBytes = size_t{2} << 20;

/// A piece that is one large page begins with one. To a longer list it matters little, and malloc(3) would keep what is
/// beside it.
size_t AlignmentOf(size_t bytes) {
  return bytes == kLargePageBytes ? kLargePageBytes : __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

}  // namespace

RowSpill::RowSpill(std::string directory, size_t memory_bytes)
    : directory_(std::move(directory)), memory_bytes_(memory_bytes) {}

RowSpill::~RowSpill() {
  for (const auto& [memory, bytes] : files_) munmap(memory, bytes);
}

void* RowSpill::MapFile(size_t bytes) {
  std::string name = directory_ + "/.crema-rows-XXXXXX";
  const Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (file < 0) {
    problem_ = strerror(errno);
    return nullptr;
  }
  unlink(name.c_str());
  if (IsInMemory(file)) {
    problem_ = "it is in memory: tmpfs or ramfs";
  } else if (const int failure = posix_fallocate(file, 0, static_cast<off_t>(bytes)); failure != 0) {
    problem_ = strerror(failure);  // without room, a later write would kill the process (SIGBUS)
  } else {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) {
      spilled_ += bytes;
      return memory;
    }
    problem_ = strerror(errno);
  }
  return nullptr;
}

void* RowSpill::Map(size_t bytes, bool whatever_room) {
  const std::lock_guard lock(mutex_);
  const bool has_room = !whatever_room && in_memory_ <= memory_bytes_ && bytes <= memory_bytes_ - in_memory_;
  void* memory = !has_room && bytes >= kLeastMapped && problem_.empty() ? MapFile(bytes) : nullptr;
  if (memory == nullptr) {
    in_memory_ += bytes;
  } else {
    files_.emplace(memory, bytes);
  }
  return memory;
}

bool RowSpill::Unmap(void* memory, size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (files_.erase(memory) == 0) {
    in_memory_ -= bytes;
    return false;
  }
  munmap(memory, bytes);
  return true;
}

size_t RowSpill::in_memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return in_memory_;
}

size_t RowSpill::spilled_bytes() const {
  const std::lock_guard lock(mutex_);
  return spilled_;
}

std::string RowSpill::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void* MemoryPlace::Take(size_t bytes) const {
  void* file = spill == nullptr ? nullptr : spill->Map(bytes, whatever_room);
  if (file != nullptr) return file;
  auto* memory = static_cast<char*>(::operator new(bytes, std::align_val_t(AlignmentOf(bytes))));
  const size_t skipped = -reinterpret_cast<uintptr_t>(memory) % kLargePageBytes;
  // This is a hint; systems without huge pages ignore it.
  const size_t whole = (bytes - std::min(bytes, skipped)) / kLargePageBytes * kLargePageBytes;
  if (whole > 0) madvise(memory + skipped, whole, MADV_HUGEPAGE);
  return memory;
}

void MemoryPlace::GiveBack(void* memory, size_t bytes) const {
  if (spill == nullptr || !spill->Unmap(memory, bytes)) ::operator delete(memory, std::align_val_t(AlignmentOf(bytes)));
}

std::shared_ptr<uint8_t> RowMemory::Take(size_t bytes) {
  if (current_ == nullptr || bytes > size_ - used_) {
    size_ = std::max(bytes, std::clamp(8 * size_, kLeastBytes, kLargePageBytes));
    current_ = std::shared_ptr<uint8_t>(
        static_cast<uint8_t*>(MemoryPlace{spill_}.Take(size_)),
        [bytes = size_, spill = spill_](uint8_t* memory) { MemoryPlace{spill}.GiveBack(memory, bytes); });
    used_ = 0;
  }
  std::shared_ptr<uint8_t> taken(current_, current_.get() + used_);
  used_ += bytes;
  return taken;
}

}  // namespace crema
