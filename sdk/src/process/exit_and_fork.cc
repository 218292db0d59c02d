#include "process/exit_and_fork.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <iterator>

namespace crema::internal {
namespace {

constexpr std::size_t kSectionsShown = 12;
/// It was asked for: who reads slowly is given time.
constexpr int kLongestWaitMilliseconds = 200;

double Seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

double Percent(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

template <class... Values>
void PrintLine(const char* format, Values... values) {
  char text[512];
  const int size = snprintf(text, sizeof text, format, values...);
  if (size <= 0) return;
  const std::size_t shown = std::min(static_cast<std::size_t>(size), sizeof text - 1);
  text[shown - 1] = '\n';
  PrintOnStandardError(text, shown, kLongestWaitMilliseconds);
}

std::atomic<bool> g_ending{false};

void AtExit() { EndProcess(); }

/// A plug-in that is unloaded would take the code of thread and exit handlers with it: it stays. The SDK's own
/// libraries are linked to stay, so that this changes nothing of what dlerror(3) reports. Returns 0, or an error
/// number.
#ifndef __GLIBC__
int StayLoaded() { return 0; }  // musl never unloads
#else
int StayLoaded() {
  Dl_info info{};
  link_map* map = nullptr;
  const auto here = reinterpret_cast<const void*>(&AtExit);
  if (dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return 0;
  if (map->l_name == nullptr || map->l_name[0] == '\0') return 0;  // the program itself
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODELETE) != 0) return 0;
  }
  return dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == nullptr ? ENOMEM : 0;
}
#endif

int WatchForks() { return pthread_atfork(nullptr, nullptr, ForgetParent); }

/// From the start of the program, or of the library: a thread that begins to record holds locks, and a child that
/// another one forks meanwhile would find them held for ever.
bool g_forks_are_watched = WatchForks() == 0;

// The first comes first: a forked child that did not forget its parent would write into the parent's log.
using Step = int (*)();
constexpr Step kSteps[] = {
    [] { return g_forks_are_watched ? 0 : WatchForks(); },
    WatchThreadEnds,
    [] { return atexit(AtExit); },
    [] { return at_quick_exit(AtExit); },
    StayLoaded,
};
std::size_t g_steps_done = 0;

}  // namespace

void ExitSummary::Add(ChunkState* state, const ChunkEnd& end) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++chunks_;
  if (state->failed) {
    ++failed_;
  } else if (state->events >= 0) {
    events_ = std::max<std::int64_t>(events_, 0) + state->events;
  }
  busy_ns_ += end.own_ns();
  AddTo(&cpu_ns_, end.cpu_ns);
  AddTo(&wait_ns_, end.wait_ns);
  joined_ns_ += end.JoinedNanoseconds(*state).value_or(0);
  AddTo(&helper_cpu_ns_, state->helper_cpu_ns);
  first_start_ns_ = std::min(first_start_ns_, state->start.monotonic_ns);
  last_stop_ns_ = std::max(last_stop_ns_, end.stop.monotonic_ns);
  sections_.Merge(&state->data.sections(), nullptr);
}

void ExitSummary::PrintSections(const TickRate& rate) noexcept {
  RowTable<SectionNode*> sections;
  ForEachDescendant(sections_.root(), [&](SectionNode* section) {
    SectionNode** const row = section->count.load() != 0 ? sections.Add() : nullptr;
    if (row != nullptr) *row = section;
  });
  std::sort(sections.begin(), sections.end(),
            [](const SectionNode* a, const SectionNode* b) { return a->self_ticks > b->self_ticks; });
  std::int64_t named_ns = 0;
  for (const SectionNode* section : sections) named_ns += rate.Nanoseconds(section->self_ticks);
  if (sections.size() != 0) PrintLine("  %-32s %10s %12s %8s\n", "section", "calls", "own time", "of busy");
  for (std::size_t i = 0; i < std::min(sections.size(), kSectionsShown); ++i) {
    const SectionNode* node = sections[i];
    JsonLine path;
    AppendPath(node, &path);
    if (path.broken()) continue;
    const std::int64_t self_ns = rate.Nanoseconds(node->self_ticks);
    PrintLine("  %-32.*s %10llu %10.3f s %6.1f %%\n", static_cast<int>(std::min<std::size_t>(path.size(), 60)),
              path.text().data(), static_cast<unsigned long long>(node->count.load()), Seconds(self_ns),
              Percent(self_ns, busy_ns_));
  }
  if (sections.size() > kSectionsShown) {
    PrintLine("  and %llu more sections\n", static_cast<unsigned long long>(sections.size() - kSectionsShown));
  }
  const std::int64_t other_ns = std::max<std::int64_t>(busy_ns_ - named_ns, 0);
  PrintLine("  %-32s %10s %10.3f s %6.1f %%\n", "(other)", "", Seconds(other_ns), Percent(other_ns, busy_ns_));
}

void ExitSummary::Print(const Recorder& recorder) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (chunks_ == 0) return;
  const std::int64_t wall_ns = last_stop_ns_ - first_start_ns_;
  PrintLine("crema: %llu chunks, %llu failed, in %.3f s\n", static_cast<unsigned long long>(chunks_),
            static_cast<unsigned long long>(failed_), Seconds(wall_ns));
  if (events_ >= 0 && wall_ns > 0) {
    PrintLine("  events %lld, %.3f kHz\n", static_cast<long long>(events_),
              static_cast<double>(events_) / Seconds(wall_ns) / 1000);
  }
  const bool is_cpu_known = cpu_ns_.has_value() && helper_cpu_ns_.has_value();
  if (is_cpu_known && wait_ns_.has_value()) {
    const std::int64_t blocked_ns = std::max<std::int64_t>(busy_ns_ - *cpu_ns_ - *wait_ns_ - joined_ns_, 0);
    PrintLine("  busy %.3f s: CPU %.1f %%, waiting for a CPU %.1f %%, blocked %.1f %%\n", Seconds(busy_ns_),
              Percent(*cpu_ns_, busy_ns_), Percent(*wait_ns_, busy_ns_), Percent(blocked_ns, busy_ns_));
    if (*helper_cpu_ns_ > 0) {
      PrintLine("  helper threads: CPU %.3f s; waiting for them %.1f %% of busy\n", Seconds(*helper_cpu_ns_),
                Percent(joined_ns_, busy_ns_));
    }
  } else if (is_cpu_known) {
    PrintLine("  busy %.3f s: CPU %.1f %%\n", Seconds(busy_ns_), Percent(*cpu_ns_, busy_ns_));
  }
  PrintSections(recorder.clock.Rate());
  PrintLine("  records in %s\n", recorder.settings.directory.c_str());
}

bool WatchExitAndFork() noexcept {
  while (g_steps_done < std::size(kSteps)) {
    if (kSteps[g_steps_done]() != 0) return false;
    ++g_steps_done;
  }
  return true;
}

void EndProcess() noexcept {
  const ErrnoAndCancelGuard guard;
  if (!g_ending.exchange(true)) EndRecording();
}

bool ProcessIsEnding() noexcept { return g_ending.load(); }

}  // namespace crema::internal
