#include "process/gpu.h"

#include <dlfcn.h>

#include "chunk/open_work.h"
#include "chunk/section_tree.h"
#include "chunk/thread_state.h"
#include "process/environment.h"
#include "process/gpu_counter.h"
#include "process/loaded_objects.h"
#include "process/process_recorder.h"

namespace crema::internal {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::int64_t kIntervalNanoseconds = 1000000000;

/// Set in the copy of the SDK that the library asks, never taken back.
std::atomic<const GpuCounter*> g_counter{nullptr};

void SetChunk(const GpuCounter& counter, ChunkState* chunk, GpuPlace* place) {
  place->chunk = chunk->number + 1;
  std::uint32_t dataset = chunk->gpu_dataset.load(kRelaxed);
  if (dataset == 0) {
    const std::string_view name = chunk->parts.dataset;
    dataset = counter.find_site(kWholeProcess, name.data(), static_cast<std::uint32_t>(name.size()));
    chunk->gpu_dataset.store(dataset, kRelaxed);
  }
  place->dataset = dataset;
}

/// The library calls it on a thread that calls CUDA. It must not allocate.
GpuPlace PlaceOfThread() {
  GpuPlace place;
  const GpuCounter& counter = *g_counter.load(std::memory_order_acquire);
  auto* const thread = static_cast<ThreadState*>(t_context);
  SectionNode* const node = thread == nullptr ? nullptr : thread->current.load(kRelaxed);
  if (node == nullptr) return place;
  if (thread->work != nullptr && thread->work->is_helper) {
    const auto& helper = *static_cast<HelperState*>(thread->work);
    if (helper.chunk->generation.load(std::memory_order_acquire) != helper.generation) return place;
    place = helper.gpu_place;
  } else if (thread->work != nullptr) {
    SetChunk(counter, static_cast<ChunkState*>(thread->work), &place);
  }
  place.section = FindSite(counter, &SectionNode::gpu_site, thread->root_site(), node);
  return place;
}

void BeginLine(const Recorder& recorder, std::string_view reason, JsonLine* line) {
  line->Raw("{\"type\":\"gpu\"");
  line->Field("time_ns", recorder.clock.UnixNanoseconds(MonotonicNanoseconds()));
  line->FieldText("reason", reason);
}

void AppendPlace(const GpuCounter& counter, std::uint32_t dataset, std::uint32_t section, JsonLine* line) {
  const AllocationSite* const named = dataset < kFirstNamedSite ? nullptr : counter.site(dataset);
  line->Raw(named == nullptr ? std::string_view(",\"dataset\":null")
                             : std::string_view(named->name, named->name_length));
  line->Raw(",\"section\":\"");
  AppendSitePath(counter, section, line);
  line->Raw("\"");
}

struct Rows {
  const GpuCounter& counter;
  JsonLine* line;
  JsonLine kernels;
  bool has_all = true;

  bool HasRoom() {
    has_all = has_all && line->size() + kernels.size() < kMaxLineBytes / 2;
    return has_all;
  }
};

bool AppendRow(void* data, const GpuRow& row) {
  auto* const rows = static_cast<Rows*>(data);
  if (!rows->HasRoom()) return false;
  JsonLine* const line = rows->line;
  const GpuCounts& counts = row.counts;
  line->Raw(line->EndsWith('[') ? std::string_view("{\"chunk\":") : std::string_view(",{\"chunk\":"));
  row.place.chunk == 0 ? line->Raw("null") : line->Unsigned(row.place.chunk - 1);
  AppendPlace(rows->counter, row.place.dataset, row.place.section, line);
  line->FieldUnsigned("launches", counts.launches);
  line->Field("kernel_ns", counts.kernel_ns);
  line->FieldUnsigned("copies", counts.copies);
  line->Field("copy_ns", counts.copy_ns);
  line->FieldUnsigned("to_device_bytes", counts.to_device_bytes);
  line->FieldUnsigned("from_device_bytes", counts.from_device_bytes);
  line->FieldUnsigned("on_device_bytes", counts.on_device_bytes);
  line->Field("wait_ns", counts.wait_ns);
  line->Field("wait_cpu_ns", counts.wait_cpu_is_known ? MaybeInteger(counts.wait_cpu_ns) : MaybeInteger());
  line->Raw("}");
  return true;
}

bool AppendKernel(void* data, const GpuKernelRow& row) {
  auto* const rows = static_cast<Rows*>(data);
  if (!rows->HasRoom()) return false;
  JsonLine* const line = &rows->kernels;
  line->Raw(line->size() == 0 ? std::string_view("{\"name\":") : std::string_view(",{\"name\":"));
  line->String({row.name, row.name_length});
  AppendPlace(rows->counter, row.dataset, row.section, line);
  line->FieldUnsigned("count", row.count);
  line->Field("total_ns", row.total_ns);
  line->Field("max_ns", row.max_ns);
  line->Raw("}");
  return true;
}

/// Whether all rows had room in it.
bool WriteLine(Recorder* recorder, const GpuState& state, bool is_last) {
  const GpuCounter& counter = *g_counter.load(kRelaxed);
  JsonLine line;
  BeginLine(*recorder, state.why_not == nullptr ? std::string_view() : state.why_not, &line);
  line.Field("until_ns", state.until_ns == 0 ? MaybeInteger() : recorder->clock.UnixNanoseconds(state.until_ns));
  const auto if_counted = [&state](std::int64_t value) {
    return state.cupti_version == 0 ? MaybeInteger() : MaybeInteger(value);
  };
  line.Field("cupti_version", if_counted(state.cupti_version));
  line.Field("busy_ns", if_counted(state.busy_ns));
  line.Field("lost", if_counted(static_cast<std::int64_t>(state.lost)));
  line.Raw(",\"work\":[");
  Rows rows{counter, &line, {}, true};
  counter.take(AppendRow, AppendKernel, &rows);
  const bool is_empty = line.EndsWith('[') && rows.kernels.size() == 0;
  if (is_empty && !is_last) return true;
  line.Raw("],\"kernels\":[");
  line.Raw(rows.kernels.text());
  line.Raw(is_last && rows.has_all ? std::string_view("],\"last\":true}\n") : std::string_view("],\"last\":false}\n"));
  recorder->log.Write(line);
  return rows.has_all;
}

/// Another injection library (a profiler's) is CUDA's to load.
bool IsOurLibrary(std::string_view path) { return path.substr(path.rfind('/') + 1) == "libcrema_gpu.so"; }

const GpuCounter* LoadCounter() {
  using GetCounter = const GpuCounter* (*)();
  void* get_counter = FindFunction(kGpuCounterFunction);
  if (get_counter == nullptr) {
    void* const library = dlopen(GpuLibrary(), RTLD_NOW | RTLD_LOCAL);  // as CUDA will, when the program uses it
    get_counter = library == nullptr ? nullptr : dlsym(library, kGpuCounterFunction);
  }
  return get_counter == nullptr ? nullptr : reinterpret_cast<GetCounter>(get_counter)();
}

}  // namespace

void StartGpu(Recorder* recorder) noexcept {
  if (!EnvironmentAsksForGpu()) return;
  static const GpuCounter* counter = nullptr;  // a forked child keeps its parent's: see `WhyNot` of allocations.cc
  if (!WasForked()) counter = IsOurLibrary(GpuLibrary()) ? LoadCounter() : nullptr;
  if (counter == nullptr || counter->version != GpuCounter::kVersion) {
    JsonLine line;
    BeginLine(*recorder,
              "CUDA_INJECTION64_PATH does not name the library libcrema_gpu.so of this version of crema: it is not "
              "set, the library was not found, or another profiler has set it",
              &line);
    line.Raw(
        ",\"until_ns\":null,\"cupti_version\":null,\"busy_ns\":null,\"lost\":null,\"work\":[],\"kernels\":[],\"last\":"
        "true}\n");
    recorder->log.Write(line);
    return;
  }
  const GpuCounter* none = nullptr;
  g_counter.compare_exchange_strong(none, counter, std::memory_order_release);
  if (!counter->attach(PlaceOfThread)) return;
  recorder->gpu_counter = counter;
  recorder->gpu_due_ns.store(MonotonicNanoseconds() + kIntervalNanoseconds, std::memory_order_release);
}

void SetGpuPlace(const Recorder& recorder, HelperState* helper) noexcept {
  if (recorder.gpu_due_ns.load(std::memory_order_acquire) == kNeverDue) return;
  SetChunk(*recorder.gpu_counter, helper->chunk, &helper->gpu_place);
  helper->data.sections().root()->gpu_site.store(HelperSite(*recorder.gpu_counter, helper->section), kRelaxed);
}

void WriteGpuWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept {
  std::int64_t due_ns = recorder->gpu_due_ns.load(std::memory_order_acquire);
  if (CREMA_LIKELY(now_ns < due_ns) || recorder->log.limits().is_stopped()) return;
  if (!recorder->gpu_due_ns.compare_exchange_strong(due_ns, now_ns + kIntervalNanoseconds)) return;
  if (const GpuState state = recorder->gpu_counter->state(); state.has_begun) WriteLine(recorder, state, false);
}

void WriteGpu(Recorder* recorder, bool is_last) noexcept {
  if (recorder->gpu_counter == nullptr || !recorder->gpu_counter->state().has_begun) return;
  if (!is_last && recorder->log.limits().is_stopped()) return;
  recorder->gpu_counter->flush(is_last);
  while (!WriteLine(recorder, recorder->gpu_counter->state(), is_last)) {
  }
}

}  // namespace crema::internal
