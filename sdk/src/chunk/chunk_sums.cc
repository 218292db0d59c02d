#include "chunk/chunk_sums.h"

#include "chunk/chunk_data.h"
#include "chunk/chunk_line.h"
#include "chunk/open_work.h"
#include "chunk/section_tree.h"
#include "process/process_recorder.h"

namespace crema::internal {
namespace {

constexpr std::uint32_t kFirstSlots = 16;

/// A row is expected to take so many bytes of the log's room, when it is written three times.
constexpr std::uint64_t kRoomOfRow = 6144;
constexpr std::uint64_t kFewestRows = 1;

constexpr std::string_view kOtherDataset = ",\"dataset\":\"(other)\"";
constexpr std::string_view kOtherFile = ",\"file\":\"(other)\"";
constexpr std::string_view kNoPass = ",\"pass\":null";

bool operator==(const IdentityParts& one, const IdentityParts& other) {
  return one.file == other.file && one.dataset == other.dataset && one.pass == other.pass;
}

/// So many threads may write into one log at once.
constexpr int kThreadsOfLog = 8;
constexpr int kMostLogs = 8;
/// A thread moves after so many begins of chunks at which more did. Threads that begin together once do not.
constexpr std::uint32_t kCrowdedBegins = 16;

/// The log that most places are left in, of those beside the first; null: none can be opened.
ChunkLog* FindOrOpen(Recorder* recorder) {
  ChunkLog* found = nullptr;
  ChunkLog* last = recorder;
  int logs = 1;
  for (; ChunkLog* log = last->next.load(); last = log) {
    if (log->log.is_open() && (found == nullptr || log->threads < found->threads)) found = log;
    ++logs;
  }
  const bool is_full = found == nullptr || found->threads >= kThreadsOfLog;
  if (!is_full || logs == kMostLogs || !recorder->descriptors.TakeForLog()) return found;
  auto* const more = MakeOwn<ChunkLog>();
  if (more == nullptr) return found;
  last->next.store(more);  // before it is open, so that a forked child finds what to close
  return OpenLogBeside(recorder, more) ? more : found;
}

}  // namespace

std::uint64_t* ValueSketch::SlotOf(std::uint64_t bucket) const noexcept {
  const std::uint32_t mask = capacity_ - 1;
  std::uint32_t at = FirstPlace(bucket);
  while (slots_[at] != 0 && slots_[at] >> kCountBits != bucket) at = (at + 1) & mask;
  return &slots_[at];
}

void ValueSketch::MoveTo(std::uint64_t* slots, std::uint32_t capacity, int bits) noexcept {
  std::uint64_t before[kMostBuckets];
  const std::uint64_t* const end = std::remove_copy(slots_, slots_ + capacity_, before, std::uint64_t{0});
  std::memset(slots, 0, capacity * sizeof slots[0]);
  slots_ = slots;
  capacity_ = capacity;
  used_ = 0;
  for (const std::uint64_t* used = before; used != end; ++used) {
    const std::uint64_t bucket = Coarser(*used >> kCountBits, bits);
    std::uint64_t* const slot = SlotOf(bucket);
    if (*slot == 0) {
      *slot = bucket << kCountBits;
      ++used_;
    }
    *slot += *used & kCounts;
  }
  shift_ = static_cast<std::uint16_t>(shift_ + bits);
}

bool ValueSketch::MakeRoom(Arena* arena, std::size_t* room) noexcept {
  const std::uint32_t capacity = capacity_ == 0 ? kFirstSlots : 2 * capacity_;
  const std::size_t bytes = capacity * sizeof(std::uint64_t);
  void* const slots = capacity <= kSlots && bytes <= *room ? arena->Allocate(bytes) : nullptr;
  if (slots != nullptr) {
    *room -= bytes;
    MoveTo(static_cast<std::uint64_t*>(slots), capacity, 0);
    return true;
  }
  if (capacity_ == 0) return false;
  while (2 * (std::size_t{used_} + 1) > capacity_) MoveTo(slots_, capacity_, 1);
  return true;
}

bool ValueSketch::AddBucket(std::uint64_t bucket, std::uint64_t times, Arena* arena, std::size_t* room) noexcept {
  for (;;) {
    if (capacity_ != 0) {
      const std::uint64_t wanted = Coarser(bucket, shift_);
      std::uint64_t* const slot = SlotOf(wanted);
      // A count of 0 would be an empty slot; buckets and their counts come together.
      if (*slot != 0) {
        *slot += times;
        return true;
      }
      if (2 * (std::size_t{used_} + 1) <= capacity_) {
        *slot = (wanted << kCountBits) + times;
        ++used_;
        return true;
      }
    }
    if (!MakeRoom(arena, room)) return false;
  }
}

bool ValueSketch::Merge(const ValueSketch& other, Arena* arena, std::size_t* room) noexcept {
  if (capacity_ != 0 && other.shift_ > shift_) MoveTo(slots_, capacity_, other.shift_ - shift_);
  if (capacity_ == 0) {
    if (!MakeRoom(arena, room)) return other.empty();
    shift_ = other.shift_;
  }
  for (std::uint32_t i = 0; i < other.capacity_; ++i) {
    const std::uint64_t slot = other.slots_[i];
    if (slot == 0) continue;
    const std::uint64_t bucket = slot >> kCountBits;
    // `AddBucket` takes buckets of the finest kind.
    const std::uint64_t finest = (bucket & kSign) | (bucket & (kSign - 1)) << other.shift_;
    AddBucket(finest, slot & kCounts, arena, room);
  }
  return true;
}

void ValueSketch::Append(JsonLine* line) const noexcept {
  std::uint64_t sorted[kMostBuckets];
  std::uint64_t* const end = std::remove_copy(slots_, slots_ + capacity_, sorted, std::uint64_t{0});
  const auto bucket_of = [](std::uint64_t slot) {
    const auto magnitude = static_cast<std::int64_t>((slot >> kCountBits) & (kSign - 1));
    return ((slot >> kCountBits) & kSign) != 0 ? -magnitude : magnitude;
  };
  std::sort(sorted, end, [&](std::uint64_t a, std::uint64_t b) { return bucket_of(a) < bucket_of(b); });
  line->Raw("[");
  for (const std::uint64_t* slot = sorted; slot != end; ++slot) {
    if (slot != sorted) line->Raw(",");
    line->Integer(bucket_of(*slot));
    line->Raw(",");
    line->Unsigned(*slot & kCounts);
  }
  line->Raw("]");
}

struct ChunkSums::Row {
  Row* next = nullptr;
  Arena texts;
  IdentityParts parts;
  bool failed = false;
  bool is_asked_for = false;  ///< an event that was to have no lines is among them
  std::uint64_t chunks = 0;
  std::uint64_t written_chunks = 0;
  std::int64_t first_start_ns = INT64_MAX;  ///< CLOCK_MONOTONIC
  std::int64_t last_stop_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t min_duration_ns = INT64_MAX;
  std::int64_t max_duration_ns = 0;
  std::uint64_t chunks_with_events = 0;
  std::int64_t events = 0;
  MaybeInteger cpu_ns = 0;
  MaybeInteger wait_ns = 0;
  MaybeInteger helper_cpu_ns = 0;
  MaybeInteger helper_wait_ns = 0;
  MaybeInteger helper_joined_ns = 0;
  ThreadUsage usage = ThreadUsage::Zero();
  std::int64_t unannounced_cpu_ns = kNeverAlone;
  std::int64_t children_cpu_ns = kNeverAlone;
  std::int64_t helper_scope_ns = 0;
  std::int64_t helper_union_ns = 0;
  std::int64_t suspended_ns = 0;
  std::int64_t lanes_peak = 0;
  std::uint64_t sections_dropped = 0;
  ChunkData data;
  SectionTree helper_sections;
  RowTable<std::uint64_t> begun;
};

ChunkSums::Row* ChunkSums::FindOrAdd(const IdentityParts& parts, bool failed, std::uint64_t most) noexcept {
  if (expected_ != nullptr && expected_->failed == failed && expected_->parts == parts) return expected_;
  for (Row* row = first_; row != nullptr; row = row->next) {
    if (row->failed == failed && row->parts == parts) return expected_ = row;
  }
  return size_ < most ? New(parts, failed) : nullptr;
}

ChunkSums::Row* ChunkSums::New(const IdentityParts& parts, bool failed) noexcept {
  auto* row = MakeOwn<Row>();
  if (row == nullptr) return nullptr;
  row->failed = failed;
  row->data.LimitSketches(0);  // the room that was kept for rows is for totals
  if (!row->texts.Copy(parts.dataset, &row->parts.dataset) || !row->texts.Copy(parts.file, &row->parts.file) ||
      !row->texts.Copy(parts.pass, &row->parts.pass)) {
    FreeOwn(row);
    return nullptr;
  }
  (last_ == nullptr ? first_ : last_->next) = row;
  last_ = row;
  ++size_;
  return expected_ = row;
}

ChunkSums::Row* ChunkSums::FindOrAdd(const Recorder& recorder, const ChunkState& state) noexcept {
  const LogLimits& limits = recorder.log.limits();
  std::uint64_t most = kMostRows;
  if (limits.is_stopped()) {
    std::uint64_t logs = 1;
    for (const ChunkLog* log = recorder.next.load(); log != nullptr; log = log->next.load()) ++logs;
    most = std::clamp<std::uint64_t>(limits.room() / logs / kRoomOfRow, kFewestRows, kMostRows);
  }
  Row* row = nullptr;
  if (!state.identity.broken()) {
    row = FindOrAdd(state.parts, state.failed, most);
    const IdentityParts of_other_files = {state.parts.dataset, kOtherFile, state.parts.pass};
    if (row == nullptr) row = FindOrAdd(of_other_files, state.failed, most + most / 4);
  }
  return row != nullptr ? row : FindOrAdd({kOtherDataset, kOtherFile, kNoPass}, state.failed, UINT64_MAX);
}

void ChunkSums::Add(Recorder* recorder, ChunkState* state, const ChunkEnd& end) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  Row* row = FindOrAdd(*recorder, *state);
  if (row == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ++row->chunks;
  row->is_asked_for = row->is_asked_for || (state->is_detached && !state->has_begin_line);
  row->first_start_ns = std::min(row->first_start_ns, state->start.monotonic_ns);
  row->last_stop_ns = std::max(row->last_stop_ns, state->start.monotonic_ns + end.duration_ns);
  const std::int64_t duration_ns = end.own_ns();
  row->duration_ns += duration_ns;
  row->min_duration_ns = std::min(row->min_duration_ns, duration_ns);
  row->max_duration_ns = std::max(row->max_duration_ns, duration_ns);
  if (state->events >= 0) {
    ++row->chunks_with_events;
    row->events += state->events;
  }
  AddTo(&row->cpu_ns, end.cpu_ns);
  AddTo(&row->wait_ns, end.wait_ns);
  AddTo(&row->helper_cpu_ns, state->helper_cpu_ns);
  AddTo(&row->helper_wait_ns, state->helper_wait_ns);
  AddTo(&row->helper_joined_ns, end.JoinedNanoseconds(*state));
  AddTo(&row->usage, end.usage);
  AddKnown(&row->unannounced_cpu_ns, state->unannounced_cpu_ns.load(std::memory_order_relaxed));
  AddKnown(&row->children_cpu_ns, state->children_cpu_ns.load(std::memory_order_relaxed));
  row->helper_scope_ns += state->helper_scope_ns;
  row->helper_union_ns += state->helper_union_ns;
  row->suspended_ns += end.suspended_ns;
  row->lanes_peak = std::max(row->lanes_peak, state->lanes_peak.load());
  const std::uint64_t dropped = row->data.sections().dropped() + row->helper_sections.dropped();
  row->data.sections().Merge(&state->data.sections(), nullptr);
  row->helper_sections.Merge(&state->helpers.sections(), nullptr);
  row->sections_dropped += row->data.sections().dropped() + row->helper_sections.dropped() - dropped;
  const std::uint64_t not_kept = row->data.dropped();
  row->data.MergeSums(state->data);
  recorder->dropped.fetch_add(row->data.dropped() - not_kept, std::memory_order_relaxed);
  if (state->has_begin_line && row->begun.size() < kMostBegun) {
    if (std::uint64_t* number = row->begun.Add()) *number = state->number;
  }
  chunks_.fetch_add(1, std::memory_order_relaxed);
  changed_.store(true, std::memory_order_relaxed);
}

void ChunkSums::WriteWhenDue(Recorder* recorder, LogFile* log, std::int64_t now_ns) noexcept {
  const LogLimits& limits = recorder->log.limits();
  std::int64_t interval_ns = kIntervalNanoseconds;
  for (std::uint64_t half = limits.room() / 2; half > limits.room_left() && half > 0; half /= 2) interval_ns *= 2;
  next_write_ns_.store(now_ns + interval_ns, std::memory_order_relaxed);
  Write(recorder, log, now_ns, false);
}

void ChunkSums::Write(Recorder* recorder, LogFile* log, std::int64_t now_ns, bool is_last) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  changed_.store(false, std::memory_order_relaxed);
  const std::uint32_t times_made_anew = log->times_made_anew();
  const bool is_new_log = times_made_anew != times_made_anew_;  // what was written went with the old one
  times_made_anew_ = times_made_anew;
  for (Row* row = first_; row != nullptr; row = row->next) {
    if (is_new_log) row->written_chunks = 0;
    if (row->chunks == row->written_chunks) continue;
    Encode(*recorder, row, now_ns);
    const std::uint64_t lost = row->chunks - row->written_chunks;
    if (log->WriteSums(line_, is_last)) {
      row->written_chunks = row->chunks;
    } else if (is_last) {
      chunks_.fetch_sub(lost, std::memory_order_relaxed);
      lost_.fetch_add(lost, std::memory_order_relaxed);
      unwritten_.fetch_add(lost, std::memory_order_relaxed);
    } else {
      changed_.store(true, std::memory_order_relaxed);
    }
  }
}

void ChunkSums::Encode(const Recorder& recorder, Row* row, std::int64_t now_ns) noexcept {
  const Clock& clock = recorder.clock;
  JsonLine* const line = &line_;
  line->Clear();
  line->Raw("{\"type\":\"sums\"");
  line->Field("time_ns", clock.UnixNanoseconds(now_ns));
  const bool is_asked_for = row->is_asked_for && !recorder.log.limits().is_stopped();
  line->FieldText("reason", is_asked_for ? "asked_for" : ReasonText(recorder.log.limits().reason()));
  line->Raw(row->parts.dataset);
  line->Raw(row->parts.file);
  line->Raw(row->parts.pass);
  line->FieldText("status", row->failed ? "failed" : "ok");
  line->FieldUnsigned("chunks", row->chunks);
  line->Raw(",\"begun\":[");
  for (const std::uint64_t number : row->begun) {
    if (!line->EndsWith('[')) line->Raw(",");
    line->Unsigned(number);
  }
  line->Raw("]");
  line->Field("first_start_ns", clock.UnixNanoseconds(row->first_start_ns));
  line->Field("last_stop_ns", clock.UnixNanoseconds(row->last_stop_ns));
  line->Field("duration_ns", row->duration_ns);
  line->Field("min_duration_ns", row->min_duration_ns);
  line->Field("max_duration_ns", row->max_duration_ns);
  line->FieldUnsigned("chunks_with_events", row->chunks_with_events);
  line->Field("events", row->chunks_with_events != 0 ? std::optional<std::int64_t>(row->events) : std::nullopt);
  line->Field("bytes_read", Known(row->data.bytes_read()));
  line->Field("bytes_uncompressed", Known(row->data.bytes_uncompressed()));
  line->Field("cpu_ns", row->cpu_ns);
  line->Field("helper_cpu_ns", row->helper_cpu_ns);
  line->Field("cpu_wait_ns", row->wait_ns);
  line->Field("helper_wait_ns", row->helper_wait_ns);
  line->Field("helper_scope_ns", row->helper_scope_ns);
  line->Field("helper_union_ns", row->helper_union_ns);
  line->Field("helper_joined_ns", row->helper_joined_ns);
  line->Field("rss_peak_bytes", Known(row->data.rss_peak_bytes()));
  line->Field("io_read_bytes", row->usage.read_bytes);
  line->Field("lanes_peak", row->lanes_peak);
  AppendUsage(row->usage, line);
  line->Field("unannounced_cpu_ns", Known(row->unannounced_cpu_ns));
  line->Field("children_cpu_ns", Known(row->children_cpu_ns));
  std::uint64_t dropped = row->sections_dropped;
  AppendSections(row->data.sections().root(), SectionRows::kMerged, row->helper_sections.root(), clock.Rate(), line,
                 &dropped);
  row->data.AppendTables(line);
  line->FieldUnsigned("sections_dropped", dropped);
  if (row->suspended_ns != 0) line->Field("suspended_ns", row->suspended_ns);
  line->Raw("}\n");
}

ChunkLog* LogForChunk(Recorder* recorder, ThreadState* thread) noexcept {
  if (thread->work != nullptr && !thread->work->is_helper) return static_cast<ChunkState*>(thread->work)->log;
  if (thread->log != nullptr) return thread->log;
  if (CREMA_LIKELY(recorder->log.writers() < kThreadsOfLog) || ++thread->crowded_begins < kCrowdedBegins) {
    return recorder;
  }
  thread->crowded_begins = 0;
  // Lines of these name chunks of the whole process, or count them.
  const bool is_one_log = recorder->gpu_counter != nullptr || recorder->allocation_counter != nullptr;
  const std::unique_lock<std::mutex> lock(recorder->logs_mutex, std::try_to_lock);
  if (is_one_log || !lock.owns_lock() || recorder->log.limits().is_stopped()) return recorder;
  thread->log = FindOrOpen(recorder);
  if (thread->log == nullptr) return recorder;
  ++thread->log->threads;
  return thread->log;
}

bool WriteSumsWhenDue(Recorder* recorder, std::int64_t now_ns, std::int64_t early_ns) noexcept {
  bool is_due = false;
  for (ChunkLog* log = recorder; log != nullptr; log = log->next.load(std::memory_order_acquire)) {
    if (!log->sums.IsDue(now_ns + early_ns)) continue;
    is_due = true;
    log->sums.WriteWhenDue(recorder, &log->log, now_ns);
  }
  return is_due;
}

}  // namespace crema::internal
