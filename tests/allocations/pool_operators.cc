// A program whose operators new take from a static pool, and count. It prints what a section took.
#include <cstddef>
#include <cstdio>
#include <new>
#include <vector>

#include "crema/crema.h"

namespace {

alignas(16) char g_pool[std::size_t{1} << 24];
std::size_t g_used = 0;
long g_news = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  ++g_news;
  void* const block = g_pool + g_used;
  g_used += (bytes + 15) / 16 * 16;
  if (g_used > sizeof g_pool) throw std::bad_alloc();
  return block;
}
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}

int main() {
  const crema::TrackMetrics metrics({"known", "a.root", 0, 100});
  const long news = g_news;
  const std::size_t used = g_used;
  {
    const crema::TrackSection section("select");
    for (int i = 0; i < 1000; ++i) {
      std::vector<int>* volatile cells = new std::vector<int>(100);
      delete cells;
    }
  }
  std::printf("[%ld, %zu]\n", g_news - news, g_used - used);
}
