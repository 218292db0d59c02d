// A plug-in with operators new and delete of its own. They count, and give memory that is filled with zeros: its sums
// are others with another operator, and another delete ends the program. With CREMA_TEST_POOL they take from a static
// pool, with CREMA_TEST_MALLOC from an allocator inside.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#ifdef CREMA_TEST_MALLOC
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void __libc_free(void* block);
extern "C" void* malloc(std::size_t bytes) noexcept { return __libc_malloc(bytes); }
extern "C" void free(void* block) noexcept { __libc_free(block); }
#endif

namespace {

constexpr std::size_t kHead = 16;
long g_news = 0;

#ifdef CREMA_TEST_POOL
alignas(kHead) char g_pool[std::size_t{1} << 22];
std::size_t g_used = 0;

void* Take(std::size_t bytes) {
  void* const block = g_pool + g_used;
  g_used += (bytes + kHead - 1) / kHead * kHead;
  return g_used <= sizeof g_pool ? block : nullptr;
}
void Give(void*) {}
#elif defined(CREMA_TEST_MALLOC)
void* Take(std::size_t bytes) { return std::memset(malloc(bytes), 0, bytes); }
void Give(void* block) { free(block); }
#else
void* Take(std::size_t bytes) { return std::calloc(1, bytes); }
void Give(void* block) { std::free(block); }
#endif

struct Jet {
  Jet() {}
  int cells[100];
};

}  // namespace

void* operator new(std::size_t bytes) {
  ++g_news;
  auto* const block = static_cast<char*>(Take(bytes + kHead));
  if (block == nullptr) throw std::bad_alloc();
  return block + kHead;
}
void operator delete(void* block) noexcept {
  if (block != nullptr) Give(static_cast<char*>(block) - kHead);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

/// Prints a list of JSON: how often its operator was called, and what it computed.
// NOLINTNEXTLINE(readability-identifier-naming): a C name
extern "C" __attribute__((visibility("default"))) void run_plugin() {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) {
    Jet* volatile jet = new Jet();
    sum += jet->cells[50];
    jet->cells[50] = 7;
    delete jet;
  }
  std::vector<int> cells;
  for (int i = 0; i < 1000; ++i) cells.push_back(i);
  std::printf("[%ld, %d, %zu]\n", g_news, sum, cells.size());
  std::fflush(stdout);
}
