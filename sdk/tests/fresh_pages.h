// FreshPages: memory that the process never touched before, so that touching it grows the resident set.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace crema {
namespace testing {

class FreshPages {
 public:
  /// Switches huge pages off, because one touch would bring 512 pages at once.
  explicit FreshPages(std::size_t pages)
      : page_bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), bytes_(pages * page_bytes_) {
    data_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    madvise(data_, bytes_, MADV_NOHUGEPAGE);
  }
  ~FreshPages() { munmap(data_, bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;

  void Touch() {
    for (std::size_t i = 0; i < bytes_; i += page_bytes_) static_cast<volatile char*>(data_)[i] = 1;
  }
  void GiveBack() { madvise(data_, bytes_, MADV_DONTNEED); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t page_bytes_;
  std::size_t bytes_;
  char* data_;
};

}  // namespace testing
}  // namespace crema
