#include "crema_c.h"

#include <cstdio>

#include "crema/crema.h"
#include "crema/internal/owned_text.h"
#include "crema/internal/platform.h"
#include "process/own_descriptor.h"
#include "process/process_recorder.h"
#include "stacks/stack_table.h"
#include "storage/arena.h"

namespace {

std::string_view Text(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

/// A caller's struct, with zeros for the fields that its version does not have.
template <class Struct>
Struct Known(const Struct* given) {
  Struct known{};
  if (given != nullptr) std::memcpy(&known, given, given->size < sizeof known ? given->size : sizeof known);
  return known;
}

// An open section as a number: the low bits of its start, which no other open section of the thread shares; whether its
// CPU time is measured; and a bit that makes it nonzero.
constexpr std::int32_t kIsSection = 1;
constexpr std::int32_t kMeasuresCpu = 2;

std::int32_t StartBits(std::uint64_t start_ticks) { return static_cast<std::int32_t>((start_ticks & 0x1fffffff) << 2); }

/// The open section of this thread that the number stands for; its node is null where there is none.
crema::internal::OpenSection FindOpen(std::int32_t number) {
  const crema::internal::ThreadContext* context = crema::internal::t_context;
  if (context == nullptr) return {};
  crema::internal::SectionNode* node = context->current.load(std::memory_order_relaxed);
  for (; node->parent != nullptr; node = node->parent) {
    const std::uint64_t start_ticks =
        node->guard_ticks != 0 ? node->guard_ticks : node->start_ticks.load(std::memory_order_relaxed);
    if (StartBits(start_ticks) == (number & ~(kIsSection | kMeasuresCpu))) return {node, start_ticks};
  }
  return {};
}

void Close(std::int32_t number, bool failed) {
  if (number == 0) return;
  const crema::internal::OpenSection section = FindOpen(number);
  if (section.node == nullptr) return crema::internal::CountUnmatchedExit();
  if (failed) {
    std::atomic<std::uint64_t>& failures = section.node->failed;
    failures.store(failures.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  if ((number & kMeasuresCpu) != 0) return crema::internal::ExitSectionWithCpu(section);
  crema::internal::ExitSection(section);
}

CREMA_THREAD_LOCAL char t_here;

enum class GuardKind : std::uint32_t { kChunk, kScope, kEvent, kRequest };

/// Where the guards of the C API live. A handle is no address: it is a place, and which of the guards that lived there
/// it means. This distinguishes a handle whose guard has ended from all others, also where another guard has the place
/// now, and of several threads that end a guard one does. Places are used again and never given back. No lock, so that
/// a forked child finds none taken; allocates 64 kB each time that 512 more guards are open at once. Never throws.
class GuardSlots {
 public:
  using Handle = std::uintptr_t;  ///< 0: none

  constexpr GuardSlots() noexcept = default;

  /// A new guard; 0 where there is no memory for it.
  template <class Guard, class... Arguments>
  Handle Begin(GuardKind kind, const Arguments&... arguments) noexcept {
    static_assert(sizeof(Guard) <= sizeof(Slot::guard));
    static_assert(alignof(Guard) <= alignof(Slot));
    std::uint32_t place;
    Slot* slot = Take(&place);
    if (slot == nullptr) return 0;
    new (slot->guard) Guard(arguments...);
    slot->kind = kind;
    slot->thread = ThisThread();
    slot->destroy = [](void* guard) { static_cast<Guard*>(guard)->~Guard(); };
    const std::uint64_t generation = slot->generation.load(std::memory_order_relaxed) + 1;
    slot->generation.store(generation, std::memory_order_release);
    return static_cast<Handle>(generation << kPlaceBits | (place + 1));
  }

  /// Ends the guard, after each `last(guard)`; false where it has ended, or there never was such a one.
  template <class... Last>
  bool End(Handle handle, GuardKind kind, const Last&... last) noexcept {
    Slot* slot = Find(handle, kind);
    std::uint64_t generation = slot == nullptr ? 0 : slot->generation.load(std::memory_order_relaxed);
    if (!IsOf(handle, generation) || !slot->generation.compare_exchange_strong(generation, generation + 1)) {
      return false;
    }
    (last(slot->guard), ...);
    slot->destroy(slot->guard);
    GiveBack(slot, PlaceOf(handle));
    return true;
  }

  /// The open guard of a handle; null where it has ended.
  template <class Guard>
  Guard* Get(Handle handle, GuardKind kind) noexcept {
    Slot* slot = Find(handle, kind);
    return slot == nullptr ? nullptr : reinterpret_cast<Guard*>(slot->guard);
  }

  /// Whether the guard is open and was begun on this thread.
  bool IsOpenHere(Handle handle, GuardKind kind) noexcept {
    const Slot* slot = Find(handle, kind);
    return slot != nullptr && slot->thread == ThisThread();
  }

 private:
  static constexpr int kPlaceBits = 24;
  static constexpr std::uint32_t kSlotsInBlock = 512;
  static constexpr std::uint32_t kBlocks = (1 << kPlaceBits) / kSlotsInBlock;
  static_assert(sizeof(Handle) == 8, "a handle holds a place and a generation");

  struct alignas(64) Slot {
    std::atomic<std::uint64_t> generation{0};  ///< odd while a guard lives here; 40 bits of it are in the handle
    std::atomic<std::uint32_t> next_free{0};   ///< a place + 1
    GuardKind kind = GuardKind::kChunk;
    void (*destroy)(void* guard) = nullptr;
    const void* thread = nullptr;  ///< that began the guard
    alignas(8) unsigned char guard[64];
  };

  static std::uint32_t PlaceOf(Handle handle) noexcept {
    return static_cast<std::uint32_t>(handle & ((Handle{1} << kPlaceBits) - 1)) - 1;
  }
  static bool IsOf(Handle handle, std::uint64_t generation) noexcept {
    return (generation & 1) != 0 && handle >> kPlaceBits == generation << kPlaceBits >> kPlaceBits;
  }
  static const void* ThisThread() noexcept { return &t_here; }

  Slot* At(std::uint32_t place) noexcept {
    if (place / kSlotsInBlock >= kBlocks) return nullptr;
    Slot* block = blocks_[place / kSlotsInBlock].load(std::memory_order_acquire);
    return block == nullptr ? nullptr : block + place % kSlotsInBlock;
  }
  Slot* Find(Handle handle, GuardKind kind) noexcept {
    Slot* slot = handle == 0 ? nullptr : At(PlaceOf(handle));
    if (slot == nullptr || !IsOf(handle, slot->generation.load(std::memory_order_acquire))) return nullptr;
    return slot->kind == kind ? slot : nullptr;
  }
  /// The free list's head with this place first.
  static std::uint64_t Head(std::uint64_t before, std::uint32_t next) { return ((before >> 32) + 1) << 32 | next; }
  Slot* Take(std::uint32_t* place) noexcept {
    std::uint64_t head = free_.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(head) != 0) {
      *place = static_cast<std::uint32_t>(head) - 1;
      Slot* slot = At(*place);
      const std::uint32_t next = slot->next_free.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head, Head(head, next), std::memory_order_acq_rel)) return slot;
    }
    return TakeNew(place);
  }

  void GiveBack(Slot* slot, std::uint32_t place) noexcept {
    std::uint64_t head = free_.load(std::memory_order_relaxed);
    do {
      slot->next_free.store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
    } while (!free_.compare_exchange_weak(head, Head(head, place + 1), std::memory_order_acq_rel));
  }

  Slot* TakeNew(std::uint32_t* place) noexcept {
    std::uint32_t used = used_.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t block_number = used / kSlotsInBlock;
      if (block_number >= kBlocks) return nullptr;
      if (blocks_[block_number].load(std::memory_order_acquire) == nullptr) {
        const crema::internal::SdkAllocationScope scope;
        crema::internal::OwnArray<Slot> block = crema::internal::MakeOwnArray<Slot>(kSlotsInBlock);
        if (block == nullptr) return nullptr;
        Slot* before = nullptr;
        // If another thread was faster, its block is there.
        if (blocks_[block_number].compare_exchange_strong(before, block.get())) block.release();
      }
      if (used_.compare_exchange_weak(used, used + 1)) {
        *place = used;
        return At(used);
      }
    }
  }

  std::atomic<Slot*> blocks_[kBlocks] = {};
  std::atomic<std::uint32_t> used_{0};  ///< places that were ever used
  /// The free place that was given back last, + 1, in the lower half; how often one was taken or given back in the
  /// upper half: this distinguishes a list that changed meanwhile from the one that was looked at.
  std::atomic<std::uint64_t> free_{0};
};

GuardSlots g_guards;

/// What this thread began last, for `crema_take_back`. At most one of the two.
struct LastBegun {
  GuardSlots::Handle guard;
  std::int32_t section;
};
CREMA_THREAD_LOCAL LastBegun t_last_begun;

GuardSlots::Handle HandleOf(const void* guard) { return reinterpret_cast<GuardSlots::Handle>(guard); }

/// A new guard's handle; null, which is counted, where there is no memory for it.
template <class Guard, class Opaque, class... Arguments>
Opaque* NewGuard(GuardKind kind, const Arguments&... arguments) {
  const GuardSlots::Handle handle = g_guards.Begin<Guard>(kind, arguments...);
  if (handle == 0) crema::internal::CountDropped();
  t_last_begun = {handle, 0};
  return reinterpret_cast<Opaque*>(handle);  // NOLINT(performance-no-int-to-ptr): who has it never looks behind it
}

/// Whether anything is recorded that begins now.
bool Begins() {
  t_last_begun = {};
  return crema::internal::Recording();
}

template <class Guard, class... Arguments>
crema_scope* Begin(const Arguments&... arguments) {
  return Begins() ? NewGuard<Guard, crema_scope>(GuardKind::kScope, arguments...) : nullptr;
}

template <class... Last>
void End(const void* guard, GuardKind kind, const Last&... last) {
  if (guard != nullptr && !g_guards.End(HandleOf(guard), kind, last...)) {
    crema::internal::CountMisuse("a guard was ended again after its end: that counts once");
  }
}

/// The guard of an open chunk; null for others.
crema::TrackMetrics* Open(const crema_chunk* chunk) {
  return g_guards.Get<crema::TrackMetrics>(HandleOf(chunk), GuardKind::kChunk);
}

crema::TrackEvent* Open(const crema_event* event) {
  return g_guards.Get<crema::TrackEvent>(HandleOf(event), GuardKind::kEvent);
}

crema::EventHandle EventOf(crema_event_handle handle) {
  return {static_cast<crema::internal::EventSlot*>(handle.slot), handle.generation};
}

crema::Chunk ChunkOf(const crema_chunk_info* given) {
  const crema_chunk_info known = Known(given);
  crema::Chunk chunk(Text(known.dataset), Text(known.file));
  chunk.tree = Text(known.tree);
  chunk.pass = Text(known.pass);
  if (given != nullptr && known.entry_start >= 0 && known.entry_stop >= 0) {
    chunk.entry_start = known.entry_start;
    chunk.entry_stop = known.entry_stop;
  }
  return chunk;
}

std::int32_t NumberOf(const crema::internal::OpenSection& section, std::int32_t bits) {
  const std::int32_t number = section.node == nullptr ? 0 : StartBits(section.start_ticks) | bits;
  t_last_begun = {0, number};
  return number;
}

template <class Visitor>
using Visit = std::pair<Visitor, void*>;  ///< with its context

void HandOver(void* visit, const crema::internal::FinishedSection& section) {
  const crema_section_total total = {sizeof total,  section.path,     section.is_helper ? 1 : 0,
                                     section.count, section.total_ns, section.self_ns};
  const auto& [visitor, context] = *static_cast<Visit<crema_section_visitor>*>(visit);
  visitor(context, &total);
}

void HandOverAsText(void* visit, const crema::internal::FinishedSection& section) {
  constexpr std::size_t kNumbers = 32;  // 20 digits, a sign, the helper's digit, two spaces and a NUL
  const std::size_t size = kNumbers + std::strlen(section.path);
  auto* text = static_cast<char*>(crema::internal::AllocateOwn(size));
  if (text == nullptr) return;
  std::snprintf(text, size, "%lld %d %s", static_cast<long long>(section.self_ns), section.is_helper ? 1 : 0,
                section.path);
  const auto& [visitor, context] = *static_cast<Visit<crema_section_text_visitor>*>(visit);
  visitor(context, text);
  std::free(text);
}

}  // namespace

CREMA_NOTE(CREMA_NOTE_OF_LIBRARY);

extern "C" {

const char* crema_version(void) { return CREMA_VERSION_STRING; }

int crema_enable(const crema_options* given) {
  const crema_options known = Known(given);
  crema::Options options;
  if (known.threads > 0) options.threads = known.threads;
  if (known.trace != 0) options.trace = true;
  if (known.interval_seconds != 0) options.interval_seconds = known.interval_seconds < 0 ? 0 : known.interval_seconds;
  if (known.total_events > 0) options.total_events = known.total_events;
  if (known.no_arguments != 0) options.record_arguments = false;
  // The options' own texts would be copies, for which there may be no memory.
  return crema::internal::EnableWithTexts(Text(known.directory), Text(known.run_id), Text(known.pass), options) ? 1 : 0;
}

void crema_disable(void) { crema::Disable(); }
int crema_enabled(void) { return crema::Enabled() ? 1 : 0; }
void crema_flush(void) { crema::Flush(); }
void crema_end(void) { crema::internal::EndLog(); }

crema_chunk* crema_chunk_begin(const crema_chunk_info* given) {
  if (!Begins()) return nullptr;
  return NewGuard<crema::TrackMetrics, crema_chunk>(GuardKind::kChunk, ChunkOf(given));
}

void crema_chunk_end(crema_chunk* chunk) { End(chunk, GuardKind::kChunk); }

int crema_chunk_is_open(const crema_chunk* chunk) { return Open(chunk) != nullptr ? 1 : 0; }

void crema_chunk_suspend(crema_chunk* chunk) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->Suspend();
}

void crema_chunk_resume(crema_chunk* chunk) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->Resume();
}

void crema_chunk_fail(crema_chunk* chunk, const char* reason) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->Fail(Text(reason));
}

void crema_chunk_set_events(crema_chunk* chunk, int64_t events) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->SetEvents(events);
}

void crema_chunk_add_bytes_read(crema_chunk* chunk, int64_t stored, int64_t uncompressed) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->AddBytesRead(stored, uncompressed);
}

void crema_chunk_add_column(crema_chunk* chunk, const char* name) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->AddColumn(Text(name));
}

void crema_chunk_add_columns(crema_chunk* chunk, const char* names, size_t size) {
  crema::TrackMetrics* guard = Open(chunk);
  if (guard == nullptr || names == nullptr) return;
  for (const char* const stop = names + size; names < stop;) {
    const std::string_view name(names, strnlen(names, static_cast<size_t>(stop - names)));
    guard->AddColumn(name);
    names += name.size() + 1;
  }
}

void crema_chunk_set_file_info(crema_chunk* chunk, int64_t branches, int64_t bytes, int64_t compressed_bytes) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->SetFileInfo(branches, bytes, compressed_bytes);
}

void crema_chunk_set_attribute(crema_chunk* chunk, const char* name, const char* value) {
  if (crema::TrackMetrics* guard = Open(chunk)) guard->SetAttribute(Text(name), Text(value));
}

crema_section crema_section_enter(const char* name) {
  if (!crema::internal::Recording()) return {nullptr, 0};
  const crema::internal::OpenSection section = crema::internal::EnterSection(Text(name));
  return {section.node, section.start_ticks};
}

void crema_section_exit(crema_section section) {
  if (section.node == nullptr) return;
  crema::internal::ExitSection({static_cast<crema::internal::SectionNode*>(section.node), section.start_ticks});
}

int32_t crema_section_open(const char* name) {
  if (!Begins()) return 0;
  return NumberOf(crema::internal::EnterSection(Text(name)), kIsSection);
}

int32_t crema_cpu_section_open(const char* name) {
  if (!Begins()) return 0;
  return NumberOf(crema::internal::EnterSectionWithCpu(Text(name)), kMeasuresCpu | kIsSection);
}

int crema_section_is_open(int32_t section) { return section != 0 && FindOpen(section).node != nullptr ? 1 : 0; }
void crema_section_close(int32_t section) { Close(section, false); }
void crema_section_close_failed(int32_t section) { Close(section, true); }

crema_scope* crema_cpu_section_begin(const char* name) {
  return Begin<crema::TrackSection>(Text(name), crema::kCpuTime);
}
crema_scope* crema_memory_begin(const char* name) { return Begin<crema::TrackMemory>(Text(name)); }
crema_scope* crema_activity_begin(const char* label) { return Begin<crema::TrackActivity>(Text(label)); }
crema_scope* crema_span_begin(const char* name) { return Begin<crema::Span>(Text(name)); }
void crema_scope_end(crema_scope* scope) { End(scope, GuardKind::kScope); }
int crema_scope_is_open(const crema_scope* scope) {
  return g_guards.IsOpenHere(HandleOf(scope), GuardKind::kScope) ? 1 : 0;
}

void crema_take_back(void) {
  const LastBegun last = t_last_begun;
  t_last_begun = {};
  if (last.section != 0 && FindOpen(last.section).node != nullptr) Close(last.section, true);
  if (last.guard == 0) return;
  if (auto* chunk = g_guards.Get<crema::TrackMetrics>(last.guard, GuardKind::kChunk)) {
    chunk->Fail("interrupted as it began");
    g_guards.End(last.guard, GuardKind::kChunk);
  } else {
    g_guards.End(last.guard, GuardKind::kScope);
  }
}

crema_chunk_handle crema_chunk_get_handle(const crema_chunk* chunk) {
  const crema::TrackMetrics* guard = Open(chunk);
  if (guard == nullptr) return {nullptr, 0, nullptr};
  const crema::ChunkHandle handle = guard->handle();
  return {handle.state, handle.generation, handle.section};
}

crema_scope* crema_helper_begin(crema_chunk_handle handle) {
  t_last_begun = {};
  if (handle.state == nullptr) return nullptr;
  const crema::ChunkHandle chunk{static_cast<crema::internal::ChunkState*>(handle.state), handle.generation,
                                 static_cast<const crema::internal::SectionNode*>(handle.section)};
  return Begin<crema::TrackHelper>(chunk);
}

crema_event* crema_event_begin(const crema_chunk_info* given, int summed) {
  if (!Begins()) return nullptr;
  const crema::EventRecord record = summed != 0 ? crema::kSummed : crema::kLine;
  return NewGuard<crema::TrackEvent, crema_event>(GuardKind::kEvent, ChunkOf(given), record);
}

void crema_event_end(crema_event* event) { End(event, GuardKind::kEvent); }

void crema_event_set_events(crema_event* event, int64_t events) {
  if (crema::TrackEvent* guard = Open(event)) guard->SetEvents(events);
}

void crema_event_fail(crema_event* event, const char* reason) {
  if (crema::TrackEvent* guard = Open(event)) guard->Fail(Text(reason));
}

crema_event_handle crema_event_get_handle(const crema_event* event) {
  const crema::TrackEvent* guard = Open(event);
  const crema::EventHandle handle = guard == nullptr ? crema::EventHandle() : guard->handle();
  return {handle.slot, handle.generation};
}

crema_event_handle crema_current_event(void) {
  const crema::EventHandle handle = crema::CurrentHandle();
  return {handle.slot, handle.generation};
}

crema_ready crema_mark_ready(crema_event_handle event, const char* task) {
  const crema::Ready ready = crema::MarkReady(EventOf(event), Text(task));
  return {ready.time_ns, ready.ran, ready.module, ready.by};
}

crema_scope* crema_task_begin(crema_event_handle event, const char* name, const crema_ready* ready) {
  crema::Ready noted;
  if (ready != nullptr) {
    noted = {ready->time_ns, ready->ran, static_cast<crema::internal::TaskModule*>(ready->module), ready->by};
  }
  return Begin<crema::TrackTask>(EventOf(event), Text(name), noted);
}

crema_request* crema_request_begin(crema_event_handle event, const char* server, const char* operation) {
  if (!Begins()) return nullptr;
  return NewGuard<crema::TrackRequest, crema_request>(GuardKind::kRequest, EventOf(event), Text(server),
                                                      Text(operation));
}

void crema_request_end(crema_request* request, int64_t bytes, int failed) {
  End(request, GuardKind::kRequest, [=](void* guard) {
    auto* const open = static_cast<crema::TrackRequest*>(guard);
    open->AddBytes(bytes);
    if (failed != 0) open->Fail();
  });
}

void crema_record_metric(const char* name, double value, const char* unit) {
  crema::RecordMetric(Text(name), value, Text(unit));
}
void crema_record_cut(const char* name, int64_t events) { crema::RecordCut(Text(name), events); }
void crema_record_cut_weighted(const char* name, int64_t events, double sum_of_weights) {
  crema::RecordCut(Text(name), events, sum_of_weights);
}
void crema_record_cut_after(const char* name, int64_t events, const double* sum_of_weights, const char* parent,
                            int64_t seen, const char* flow) {
  const crema::CutInput input = {Text(parent), seen, Text(flow), {}};
  crema::RecordCutEvents(Text(name), events, sum_of_weights, &input);
}
void crema_record_activity(const char* label, double value, const char* unit) {
  crema::RecordActivity(Text(label), value, Text(unit));
}
void crema_record_request(const char* server, const char* operation, int64_t bytes, int64_t nanoseconds, int failed) {
  crema::RecordRequest(Text(server), Text(operation), bytes, nanoseconds, failed != 0);
}
int crema_write_stacks(const char* fields, size_t size, int64_t cost_ns) {
  return crema::internal::WriteStacks(fields == nullptr ? std::string_view() : std::string_view(fields, size), cost_ns)
             ? 1
             : 0;
}
void crema_add_cost(int64_t cpu_ns) {
  if (crema::internal::Recording()) crema::internal::AddCost(cpu_ns);
}
void crema_add_bytes_read(int64_t stored, int64_t uncompressed) { crema::AddBytesRead(stored, uncompressed); }
void crema_set_attribute(const char* name, const char* value) { crema::SetAttribute(Text(name), Text(value)); }

size_t crema_visit_sections(crema_section_visitor visitor, void* context) {
  if (visitor == nullptr) return 0;
  Visit<crema_section_visitor> visit{visitor, context};
  return crema::internal::VisitFinishedSections(HandOver, &visit);
}

size_t crema_visit_section_texts(crema_section_text_visitor visitor, void* context) {
  if (visitor == nullptr) return 0;
  Visit<crema_section_text_visitor> visit{visitor, context};
  return crema::internal::VisitFinishedSections(HandOverAsText, &visit);
}

const void* crema_shared_copy(void) { return crema::internal::OwnCopy(); }

}  // extern "C"
