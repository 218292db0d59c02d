// Allocates blocks of known sizes in sections, and frees some of them. Prints the totals of the sections: the table
// that the record log must have, to the byte. With an argument, `fork`, `threads`, `chunks` or `loop N`, it does only
// that; with `killed`, it then kills itself.
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"

namespace {

/// The expected totals of a section, as malloc_usable_size(3) counts.
struct Known {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  std::int64_t live = 0;
  std::int64_t peak = 0;

  template <class Pointer>
  Pointer Allocated(Pointer block) {
    const auto size = static_cast<std::int64_t>(malloc_usable_size(block));
    ++calls;
    bytes += size;
    live += size;
    if (live > peak) peak = live;
    return block;
  }
  void* Freed(void* block) {
    live -= static_cast<std::int64_t>(malloc_usable_size(block));
    return block;
  }
};

struct alignas(128) Wide {
  char bytes[640];
};

// Sections are known before anything is allocated in one: this program's own table must not allocate there.
std::map<std::string, Known> g_known;  // by path, after what it is of

void* volatile g_kept;  // so that no allocation is left out

void UseMalloc() {
  Known& known = g_known["chunk malloc"];
  const crema::TrackSection section("malloc");
  for (std::size_t size = 1; size < 4000; size += 13) {
    void* block = known.Allocated(std::malloc(size));
    if (size % 5 != 0) std::free(known.Freed(block));
    g_kept = block;
  }
  std::free(known.Freed(known.Allocated(std::calloc(100, 24))));
  g_kept = known.Allocated(std::calloc(1, 200000));
}

void UseNew() {
  Known& known = g_known["chunk new"];
  const crema::TrackSection section("new");
  for (int i = 1; i < 100; ++i) {
    char* array = known.Allocated(new char[static_cast<std::size_t>(i) * 10]);
    known.Freed(array);
    delete[] array;
  }
  Wide* wide = known.Allocated(new Wide());
  known.Freed(wide);
  delete wide;
  g_kept = known.Allocated(new Wide());
  g_kept = known.Allocated(new (std::nothrow) double[1000]);
  g_kept = known.Allocated(::operator new(0));
}

void UseAligned() {
  Known& known = g_known["chunk aligned"];
  const crema::TrackSection section("aligned");
  std::free(known.Freed(known.Allocated(std::aligned_alloc(64, 640))));
  g_kept = known.Allocated(std::aligned_alloc(4096, 8192));
  void* block = nullptr;
  if (posix_memalign(&block, 256, 1000) != 0) std::abort();
  g_kept = known.Allocated(block);
  g_kept = known.Allocated(memalign(32, 100));
}

void UseRealloc() {
  Known& known = g_known["chunk realloc"];
  const crema::TrackSection section("realloc");
  void* block = known.Allocated(std::realloc(nullptr, 10));
  for (const std::size_t size : {1000u, 100000u, 3000000u, 50u, 51u}) {
    known.Freed(block);
    block = known.Allocated(std::realloc(block, size));
  }
  volatile std::size_t too_much = PTRDIFF_MAX;
  if (std::realloc(block, too_much) != nullptr) std::abort();  // and the block stays
}

void UsePeak() {
  Known& known = g_known["chunk outer"];
  Known& inner = g_known["chunk outer/in%2Fner \"quoted\""];
  const crema::TrackSection section("outer");
  void* one = known.Allocated(std::malloc(1000000));
  void* two = known.Allocated(std::malloc(2000000));
  std::free(known.Freed(one));
  {
    const crema::TrackSection nested("in/ner \"quoted\"");
    g_kept = inner.Allocated(std::malloc(77));
  }
  g_kept = known.Allocated(std::malloc(500000));
  std::free(known.Freed(two));
}

/// Blocks of one section, freed by a thread that has none, and in another section.
void FreeElsewhere() {
  Known& known = g_known["chunk make"];
  g_known["chunk free"];
  constexpr int kBlocks = 100;
  static void* blocks[kBlocks];
  {
    const crema::TrackSection section("make");
    for (void*& block : blocks) block = known.Allocated(std::malloc(5000));
  }
  std::thread([&known] {
    for (int i = 0; i < kBlocks / 2; ++i) std::free(known.Freed(blocks[i]));
  }).join();
  const crema::TrackSection section("free");
  for (int i = kBlocks / 2; i < kBlocks - 1; ++i) std::free(known.Freed(blocks[i]));
}

/// Allocations of helpers are below the section that their chunk had open.
void UseHelper(const crema::TrackMetrics& metrics) {
  Known& at_begin = g_known["helper select"];
  Known& inside = g_known["helper select/sort"];
  const crema::TrackSection section("select");
  const crema::ChunkHandle handle = metrics.handle();
  std::thread([&] {
    const crema::TrackHelper helper(handle);
    g_kept = at_begin.Allocated(std::malloc(3333));
    const crema::TrackSection sort("sort");
    g_kept = inside.Allocated(std::malloc(4444));
  }).join();
}

/// Memory of crema is not the program's.
void UseCrema() {
  g_known["chunk quiet"];
  static char names[900][32];
  for (int i = 0; i < 900; ++i) std::snprintf(names[i], sizeof names[i], "metric number %d", i);
  const std::string_view file = "/a/path/that/is/longer/than/what/a/text/of/crema/holds/in/its/own/place/events.root";
  const crema::TrackSection section("quiet");
  for (const char* name : names) crema::RecordMetric(name, 1.5, "count");
  crema::RecordCut("all events", 100);
  crema::RecordRequest("root://one.example.org", "read", 4096, 1000);
  for (const char* name : names) crema::SetAttribute(name, "a value");
  crema::TrackMetrics metrics({"inner", file, 0, 10});
  for (int i = 0; i < 100; ++i) const crema::TrackSection other(names[i]);
  crema::Flush();
}

void PrintKnown() {
  std::printf("[");
  const char* comma = "";
  for (const auto& [name, known] : g_known) {
    if (known.calls == 0) continue;
    std::string path = name.substr(name.find(' ') + 1);
    for (std::size_t at = 0; (at = path.find('"', at)) != std::string::npos; at += 2) path.insert(at, "\\");
    std::printf(
        "%s{\"of\":\"%s\",\"path\":\"%s\",\"allocations\":%lld,\"allocated_bytes\":%lld,\"live_bytes\":%lld,"
        "\"peak_live_bytes\":%lld}\n",
        comma, name.substr(0, name.find(' ')).c_str(), path.c_str(), static_cast<long long>(known.calls),
        static_cast<long long>(known.bytes), static_cast<long long>(known.live), static_cast<long long>(known.peak));
    comma = ",";
  }
  std::printf("]\n");
  std::fflush(stdout);
}

void UseAll() {
  {
    Known& known = g_known["process set up"];
    const crema::TrackSection section("set up");
    g_kept = known.Allocated(std::malloc(123456));
  }
  {
    crema::TrackMetrics metrics({"known", "a.root", 0, 100});
    metrics.SetEvents(100);
    UseMalloc();
    UseNew();
    UseAligned();
    UseRealloc();
    UsePeak();
    FreeElsewhere();
    UseHelper(metrics);
    UseCrema();
  }
  PrintKnown();
}

/// A child has its own figures, and frees blocks of its parent's.
void Fork() {
  Known& known = g_known["chunk in parent"];
  void* inherited = nullptr;
  {
    crema::TrackMetrics metrics({"known", "a.root", 0, 100});
    const crema::TrackSection section("in parent");
    inherited = known.Allocated(std::malloc(10000));
    g_kept = known.Allocated(std::malloc(20000));
  }
  const pid_t child = fork();
  if (child == 0) {
    g_known.clear();
    Known& own = g_known["chunk in child"];
    {
      crema::TrackMetrics metrics({"known", "a.root", 100, 200});
      const crema::TrackSection section("in child");
      std::free(inherited);
      g_kept = own.Allocated(std::malloc(30000));
    }
    PrintKnown();
    std::exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) != child || status != 0) std::abort();
  PrintKnown();
}

void PrintChunk(const char* before, const char* dataset, const Known& known) {
  std::printf("%s{\"dataset\":\"%s\",\"allocations\":%lld,\"allocated_bytes\":%lld}", before, dataset,
              static_cast<long long>(known.calls), static_cast<long long>(known.bytes));
}

/// What the chunk's own thread allocates in each chunk: with a chunk inside it, and on two threads with a pause in
/// between.
void UseChunks() {
  static Known outer, inner, moved;
  {
    const crema::TrackMetrics metrics({"outer", "a.root", 0, 100});
    g_kept = outer.Allocated(std::malloc(100));
    const crema::TrackMetrics nested({"inner", "b.root", 0, 100});
    g_kept = outer.Allocated(inner.Allocated(std::malloc(20000)));
  }
  static std::optional<crema::TrackMetrics> chunk;
  chunk.emplace(crema::Chunk("moved", "a.root", 100, 200));
  g_kept = moved.Allocated(std::malloc(300));
  chunk->Suspend();
  g_kept = std::malloc(5000);
  std::thread([] {
    g_kept = std::malloc(7000);
    chunk->Resume();
    g_kept = moved.Allocated(std::malloc(40000));
    chunk.reset();
  }).join();
  PrintChunk("[", "outer", outer);
  PrintChunk(",", "inner", inner);
  PrintChunk(",", "moved", moved);
  std::printf("]\n");
}

thread_local std::vector<char> t_until_the_thread_ends;

/// Threads that allocate at once, in the same sections, and give blocks to each other.
void UseThreads() {
  constexpr int kThreads = 8;
  constexpr int kRounds = 2000;
  static std::vector<void*> given[kThreads];
  Known known[kThreads];
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) given[i].reserve(kRounds);
  const auto run = [&](int number, bool frees) {
    crema::TrackMetrics metrics({"known", "a.root", 2 * number + frees, 2 * number + frees + 1});
    t_until_the_thread_ends.resize(1000);
    if (frees) {
      for (void* block : given[(number + 1) % kThreads]) std::free(block);
      return;
    }
    const crema::TrackSection section("shared");
    for (int round = 0; round < kRounds; ++round) {
      void* block = known[number].Allocated(std::malloc(static_cast<std::size_t>(round % 300 + 1)));
      if (round % 2 == 0) {
        std::free(known[number].Freed(block));
      } else {
        given[number].push_back(known[number].Freed(block));
      }
    }
  };
  for (const bool frees : {false, true}) {
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(run, i, frees);
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
  Known& all = g_known["chunk shared"];
  for (const Known& one : known) {
    all.calls += one.calls;
    all.bytes += one.bytes;
    all.live += one.live;
  }
  PrintKnown();
}

/// Some blocks in a loop: what counting them costs.
void Loop(int rounds) {
  crema::TrackMetrics metrics({"known", "a.root", 0, 100});
  const crema::TrackSection section("loop");
  for (int i = 0; i < rounds; ++i) {
    g_kept = std::malloc(64);
    std::free(g_kept);
  }
}

}  // namespace

int main(int count, char** arguments) {
  static char out[1 << 16];
  setvbuf(stdout, out, _IOFBF, sizeof out);
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "killed") {
    UseAll();
    raise(SIGKILL);
  } else if (what == "fork") {
    Fork();
  } else if (what == "chunks") {
    UseChunks();
  } else if (what == "threads") {
    UseThreads();
  } else if (what == "loop") {
    Loop(std::atoi(arguments[2]));
  } else {
    UseAll();
  }
  return 0;
}
