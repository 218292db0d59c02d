#include "collector/metrics/memory/row_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace crema {
namespace {

/// Its files would take the memory that they are to spare.
bool IsInMemory(int descriptor) {
  struct statfs system = {};
  return fstatfs(descriptor, &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// A run of few rows takes little; of many, each piece is a large page, of which the last is half empty on average.
constexpr size_t kLeastBytes = size_t{64} << 10;

std::shared_ptr<uint8_t> Allocate(size_t bytes, RowSpill* spill) {
  void* file = spill == nullptr ? nullptr : spill->Map(bytes);
  uint8_t* memory = file == nullptr ? LargePageAllocator<uint8_t>().allocate(bytes) : static_cast<uint8_t*>(file);
  return std::shared_ptr<uint8_t>(memory, [bytes, spill](uint8_t* freed) {
    if (spill == nullptr || !spill->Unmap(freed, bytes)) LargePageAllocator<uint8_t>().deallocate(freed, bytes);
  });
}

}  // namespace

RowSpill::RowSpill(std::string directory, size_t memory_bytes)
    : directory_(std::move(directory)), memory_bytes_(memory_bytes) {}

RowSpill::~RowSpill() {
  for (const auto& [memory, bytes] : files_) munmap(memory, bytes);
}

bool RowSpill::HasRoom(size_t bytes) const {
  const std::lock_guard lock(mutex_);
  return in_memory_ <= memory_bytes_ && bytes <= memory_bytes_ - in_memory_;
}

bool RowSpill::Count(size_t bytes) {
  if (in_memory_ > memory_bytes_ || bytes > memory_bytes_ - in_memory_) return false;
  in_memory_ += bytes;
  return true;
}

int RowSpill::MakeFile(size_t bytes) {
  std::string name = directory_ + "/.crema-rows-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) {
    problem_ = strerror(errno);
    return -1;
  }
  unlink(name.c_str());
  if (IsInMemory(descriptor)) {
    problem_ = "it lies in memory";
  } else if (const int failure = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)); failure != 0) {
    problem_ = strerror(failure);  // without room, a later write would kill the process (SIGBUS)
  } else {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

void* RowSpill::MapFile(void* place, size_t bytes) {
  const int descriptor = MakeFile(bytes);
  if (descriptor < 0) return nullptr;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    problem_ = strerror(errno);
  } else if (place != nullptr) {
    // Not at once (MAP_FIXED): where a file system refuses a mapping, that may leave a hole.
    void* moved = mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (moved == MAP_FAILED) {
      problem_ = strerror(errno);
      munmap(memory, bytes);
    }
    memory = moved;
  }
  close(descriptor);
  if (memory == MAP_FAILED) return nullptr;
  spilled_ += bytes;
  return memory;
}

void* RowSpill::Map(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (Count(bytes)) return nullptr;
  void* memory = bytes >= kLeastMapped && problem_.empty() ? MapFile(nullptr, bytes) : nullptr;
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

void RowSpill::LayUnder(void* memory, size_t bytes) {
  if (bytes < kLeastLaidUnder) return;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const size_t page = PageBytes();
  const size_t skipped = (page - begin % page) % page;
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) MapFile(static_cast<char*>(memory) + skipped, (bytes - skipped) / page * page);
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

std::shared_ptr<uint8_t> RowMemory::Take(size_t bytes) {
  if (current_ == nullptr || bytes > size_ - used_) {
    size_ = std::max(bytes, std::clamp(8 * size_, kLeastBytes, kLargePageBytes));
    current_ = Allocate(size_, spill_);
    used_ = 0;
  }
  std::shared_ptr<uint8_t> taken(current_, current_.get() + used_);
  used_ += bytes;
  return taken;
}

}  // namespace crema
