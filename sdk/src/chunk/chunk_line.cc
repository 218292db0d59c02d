#include "chunk/chunk_line.h"

#include "guards/span.h"
#include "tasks/task_table.h"

namespace crema::internal {
namespace {

void AppendIdentity(const ChunkState& state, JsonLine* line) {
  line->Raw(state.identity.text());
  if (state.identity.broken()) line->Break();
}

}  // namespace

void AppendUsage(const ThreadUsage& usage, JsonLine* line) noexcept {
  line->Field("system_cpu_ns", usage.system_cpu_ns);
  line->Field("minor_faults", usage.minor_faults);
  line->Field("major_faults", usage.major_faults);
}

std::optional<std::int64_t> ChunkEnd::JoinedNanoseconds(const ChunkState& state) const noexcept {
  if (!cpu_ns.has_value() || !wait_ns.has_value()) return std::nullopt;
  const std::int64_t rest_ns = own_ns() - *cpu_ns - *wait_ns;
  return std::max<std::int64_t>(std::min(rest_ns, state.helper_union_ns), 0);
}

void EncodeIdentity(const Recorder& recorder, const ThreadState& thread, const Chunk& chunk, ChunkState* state,
                    bool is_summed) noexcept {
  JsonLine& line = state->identity;
  line.Clear();
  if (!is_summed) {
    line.FieldUnsigned("thread", thread.thread);
    line.Field("tid", thread.tid.load());
  }
  const std::size_t dataset = line.size();
  line.FieldText("dataset", CutOnCodePoint(chunk.dataset, kMaxPathBytes));
  const std::size_t file = line.size();
  line.FieldText("file", CutOnCodePoint(chunk.file, kMaxPathBytes));
  if (!chunk.file.empty()) line.TakeSecretsOut(file);
  const std::size_t tree = line.size();
  if (!is_summed) {
    line.FieldText("tree", CutOnCodePoint(chunk.tree, kMaxPathBytes));
    line.Field("entry_start", chunk.entry_start);
    line.Field("entry_stop", chunk.entry_stop);
  }
  const std::string_view span = InnermostSpanPath(recorder, thread);
  std::string_view pass = CutOnCodePoint(chunk.pass, kMaxPathBytes);
  if (pass.empty()) pass = recorder.settings.pass.view();
  if (pass.empty()) pass = span;
  const std::size_t pass_begin = line.size();
  line.FieldText("pass", pass);
  const std::size_t pass_end = line.size();
  if (!is_summed) line.FieldText("span", span);
  const std::string_view text = line.text();
  state->parts = {text.substr(dataset, file - dataset), text.substr(file, tree - file),
                  text.substr(pass_begin, pass_end - pass_begin)};
}

void EncodeBegin(const Recorder& recorder, ChunkState* state, JsonLine* line) noexcept {
  line->Clear();
  line->Raw("{\"type\":\"begin\"");
  line->FieldUnsigned("chunk", state->number);
  line->Field("time_ns", recorder.clock.UnixNanoseconds(state->start.monotonic_ns));
  AppendIdentity(*state, line);
  const std::int64_t suspended = recorder.suspended.load(std::memory_order_relaxed);
  if (suspended != 0) line->Field("suspended", suspended);
  const OpenWork* around = state->outer;
  while (around != nullptr && around->is_helper) around = around->outer;
  if (around != nullptr) line->FieldUnsigned("inside", static_cast<const ChunkState*>(around)->number);
  if (state->is_detached) line->Raw(",\"detached\":true");
  // What was computed until now, so before all chunks: the set-up. A system call that later chunks are spared.
  if (state->number == 0) line->Field("process_cpu_ns", ProcessCpuNanoseconds());
  state->data.AppendAttributes(line);
  line->Raw("}\n");
}

std::uint64_t EncodeChunk(const Recorder& recorder, const ChunkEnd& end, ChunkState* state, JsonLine* line) noexcept {
  ChunkData& data = state->data;
  const TickRate& rate = end.rate;
  const std::int64_t start_ns = recorder.clock.UnixNanoseconds(state->start.monotonic_ns);
  line->Clear();
  line->Raw("{\"type\":\"chunk\"");
  line->FieldUnsigned("chunk", state->number);
  line->Field("start_ns", start_ns);
  line->Field("stop_ns", start_ns + end.duration_ns);
  line->Key("status");
  line->Raw(state->failed ? "\"failed\"" : "\"ok\"");
  line->Field("events", Known(state->events));
  line->Field("bytes_read", Known(data.bytes_read()));
  line->Field("bytes_uncompressed", Known(data.bytes_uncompressed()));
  line->Field("cpu_ns", end.cpu_ns);
  line->Field("helper_cpu_ns", state->helper_cpu_ns);
  line->Field("cpu_wait_ns", end.wait_ns);
  line->Field("helper_wait_ns", state->helper_wait_ns);
  line->Field("helper_scope_ns", state->helper_scope_ns);
  line->Field("helper_union_ns", state->helper_union_ns);
  line->Field("rss_start_bytes", state->rss_start_bytes);
  line->Field("rss_stop_bytes", end.rss_stop_bytes);
  line->Field("rss_peak_bytes", Known(data.rss_peak_bytes()));
  line->Field("io_read_bytes", end.usage.read_bytes);
  line->Field("open_chunks", end.open_chunks);
  line->Field("lanes_peak", state->lanes_peak.load());
  AppendUsage(end.usage, line);
  line->Field("unannounced_cpu_ns", Known(state->unannounced_cpu_ns.load(std::memory_order_relaxed)));
  line->Field("children_cpu_ns", Known(state->children_cpu_ns.load(std::memory_order_relaxed)));
  AppendIdentity(*state, line);
  const std::size_t error = line->size();
  line->FieldText("error", state->failed ? state->reason : std::string_view());
  if (state->failed) line->TakeSecretsOutOfText(error);
  data.AppendColumns(line);
  SectionTree& helper_sections = state->helpers.sections();
  std::uint64_t dropped = data.sections().dropped() + helper_sections.dropped();
  AppendSections(data.sections().root(), SectionRows::kOwner, helper_sections.root(), rate, line, &dropped);
  data.AppendTables(line);
  line->FieldUnsigned("sections_dropped", dropped);
  if (end.suspended_ns != 0) line->Field("suspended_ns", end.suspended_ns);
  if (end.inner_ns != 0) line->Field("inner_ns", end.inner_ns);
  if (state->is_detached) line->Raw(",\"detached\":true");
  if (end.allocations.has_value()) {
    line->Field("allocations", end.allocations);
    line->Field("allocated_bytes", end.allocated_bytes);
  }
  data.AppendAttributes(line);
  data.AppendTrace(rate, state->start.ticks, line);
  if (end.traced != nullptr && recorder.settings.trace) AppendTasks(*end.traced, line);
  line->Raw("}\n");
  return dropped;
}

}  // namespace crema::internal
