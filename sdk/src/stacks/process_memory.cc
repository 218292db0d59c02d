#include "stacks/process_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "process/own_descriptor.h"

namespace crema {
namespace internal {
namespace {

constexpr char kPath[] = "/proc/self/mem";

}  // namespace

bool ProcessMemory::Open() noexcept {
  for (Page& page : pages_) page.begin = 0;
  stack_begin_ = stack_end_ = 0;
  struct stat wanted {};
  if (!MayOpen() || stat(kPath, &wanted) != 0) return false;
  device_ = wanted.st_dev;
  file_ = open(kPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  return file_ >= 0;
}

void ProcessMemory::Close() noexcept {
  if (file_ >= 0 && IsOpenOnDevice(file_, device_)) close(file_);
  file_ = -1;
}

bool ProcessMemory::ReadNow(std::uintptr_t from, void* to, std::size_t bytes) const noexcept {
  // pread(2) holds the process's lock of mappings, and would hold it while a page comes from a disk. So the page comes
  // first, by a call that lets go of the lock meanwhile, and refuses memory of devices.
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ, which older headers lack
  const std::uintptr_t begin = from & ~(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  if (madvise(reinterpret_cast<void*>(begin), from + bytes - begin, kPopulateRead) != 0) return false;
  return pread(file_, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

std::uintptr_t ProcessMemory::CopyStack(std::uintptr_t from) noexcept {
  stack_begin_ = stack_end_ = from;
  const std::uintptr_t end = from - from % kPageBytes + kStackBytes;
  while (stack_end_ < end) {
    const std::size_t bytes = kPageBytes - stack_end_ % kPageBytes;
    if (!ReadNow(stack_end_, stack_ + (stack_end_ - from), bytes)) break;  // here the stack ends
    stack_end_ += bytes;
  }
  return stack_end_;
}

const ProcessMemory::Page* ProcessMemory::PageAt(std::uintptr_t begin) noexcept {
  Page& page = pages_[begin / kPageBytes % kPages];
  if (page.begin != begin) page.begin = ReadNow(begin, page.bytes, kPageBytes) ? begin : 0;
  return page.begin == begin ? &page : nullptr;
}

bool ProcessMemory::Read(std::uintptr_t from, void* to, std::size_t bytes) noexcept {
  if (from >= stack_begin_ && from < stack_end_ && bytes <= stack_end_ - from) {
    std::memcpy(to, stack_ + (from - stack_begin_), bytes);
    return true;
  }
  auto* at = static_cast<unsigned char*>(to);
  while (bytes != 0) {
    const std::size_t offset = from % kPageBytes;
    const std::size_t part = std::min(bytes, kPageBytes - offset);
    const Page* const page = PageAt(from - offset);
    if (page == nullptr) return false;
    std::memcpy(at, page->bytes + offset, part);
    at += part;
    from += part;
    bytes -= part;
  }
  return true;
}

}  // namespace internal
}  // namespace crema
