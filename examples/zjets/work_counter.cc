#include "examples/zjets/work_counter.h"

#include <sys/mman.h>

#include <new>
#include <stdexcept>

namespace zjets {

WorkCounter::WorkCounter() {
  void* memory =
      mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share between worker processes");
  shared_ = new (memory) std::atomic<std::size_t>(0);
}

WorkCounter::~WorkCounter() { munmap(shared_, sizeof(*shared_)); }

}  // namespace zjets
