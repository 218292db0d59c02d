#include "collector/detail/attempt_list.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "collector/metrics/attempts/attempt_results.h"
#include "collector/metrics/statistics/stable_hash.h"
#include "collector/metrics/workers/lanes.h"

namespace crema {
namespace {

int64_t OrUnknown(const std::optional<int64_t>& value) { return value.value_or(AttemptRow::kUnknown); }

AttemptStatus StatusOf(AttemptState state) {
  switch (state) {
    case AttemptState::kOk:
      return AttemptStatus::kOk;
    case AttemptState::kFailed:
      return AttemptStatus::kFailed;
    case AttemptState::kLost:
      return AttemptStatus::kLost;
    case AttemptState::kUnrecorded:
      return AttemptStatus::kUnrecorded;
    case AttemptState::kRunning:
      break;
  }
  return AttemptStatus::kOpen;
}

/// docs/metrics.md, "Chunks and attempts".
uint64_t ChunkIdentity(const Attempt& attempt) {
  const ChunkInput& input = attempt.chunk.input;
  const AttemptProcess& process = attempt.process;
  if (input.file.empty() || !input.entry_start.has_value() || !input.entry_stop.has_value()) {
    return StableHash()
        .Add(std::string_view(process.host))
        .Add(process.pid)
        .Add(process.start_ns)
        .Add(std::string_view(process.boot_id))
        .Add(process.pid_namespace.value_or(-1))
        .Add(attempt.chunk.number)
        .value();
  }
  return StableHash()
      .Add(std::string_view(process.run_id))
      .Add(input.pass)
      .Add(input.dataset)
      .Add(input.file)
      .Add(input.tree)
      .Add(*input.entry_start)
      .Add(*input.entry_stop)
      .value();
}

class Lister {
 public:
  explicit Lister(AttemptList* list) : list_(list) {}

  void Add(const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    AttemptRow row;
    row.chunk_id = ChunkIdentity(attempt);
    row.start_ns = chunk.start_ns;
    row.number = chunk.number;
    row.process = ProcessOf(attempt.process);
    row.input = InputOf(chunk.input);
    row.thread = ThreadOf(row.process, chunk);
    row.status = StatusOf(attempt.state);
    AttemptBytes bytes;
    if (attempt.has_ended()) {
      row.duration_ns = std::max<int64_t>(0, chunk.stop_ns - chunk.start_ns);
      row.events = OrUnknown(chunk.events);
      row.cpu_ns = OrUnknown(chunk.cpu_ns);
      row.cpu_wait_ns = OrUnknown(chunk.cpu_wait_ns);
      row.rss_start_bytes = OrUnknown(chunk.rss_start_bytes);
      row.rss_stop_bytes = OrUnknown(chunk.rss_stop_bytes);
      row.helpers = HelpersOf(chunk);
      bytes = {OrUnknown(chunk.bytes_read), OrUnknown(chunk.bytes_uncompressed)};
    }
    list_->rows.push_back(row);
    list_->bytes.push_back(bytes);
    list_->columns.push_back(static_cast<uint32_t>(chunk.columns.size()));
  }

 private:
  uint32_t ProcessOf(const AttemptProcess& process) {
    const auto [at, is_new] =
        processes_.try_emplace({process.worker, process.start_ns}, static_cast<uint32_t>(list_->processes.size()));
    if (is_new) list_->processes.push_back({process.worker, process.host, process.start_ns});
    return at->second;
  }
  uint32_t InputOf(const ChunkInput& input) {
    const ListedInput listed = {list_->datasets.Number(input.dataset), list_->files.Number(input.file)};
    const auto [at, is_new] =
        inputs_.try_emplace({listed.dataset, listed.file}, static_cast<uint32_t>(list_->inputs.size()));
    if (is_new) list_->inputs.push_back(listed);
    return at->second;
  }
  uint32_t ThreadOf(uint32_t process, const ChunkFact& chunk) {
    const uint64_t id = chunk.tid.has_value() ? static_cast<uint64_t>(*chunk.tid) : chunk.thread.value_or(0);
    const auto [at, is_new] = threads_.try_emplace({process, id}, static_cast<uint32_t>(list_->threads.size()));
    if (is_new) list_->threads.push_back({process, id});
    return at->second;
  }
  uint32_t HelpersOf(const ChunkFact& chunk) {
    if (chunk.helper_scope_ns.value_or(0) <= 0 && chunk.helper_cpu_ns.value_or(0) <= 0 &&
        chunk.helper_union_ns.value_or(0) <= 0) {
      return AttemptRow::kNone;
    }
    list_->helpers.push_back({OrUnknown(chunk.helper_cpu_ns), OrUnknown(chunk.helper_wait_ns),
                              chunk.helper_scope_ns.value_or(0), chunk.helper_union_ns.value_or(0)});
    return static_cast<uint32_t>(list_->helpers.size() - 1);
  }

  AttemptList* list_;
  std::map<std::pair<std::string, int64_t>, uint32_t> processes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> inputs_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> threads_;
};

/// An attempt that did not end stands where its thread worked last.
void PlaceUnended(AttemptList* list) {
  std::vector<size_t> order;
  bool any = false;
  for (const uint32_t lane : list->lanes) any = any || lane == AttemptRow::kNone;
  if (!any) return;
  for (size_t i = 0; i < list->rows.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [list](size_t a, size_t b) { return list->rows[a].start_ns < list->rows[b].start_ns; });
  std::map<uint32_t, uint32_t> lane_of_thread;
  for (const size_t i : order) {
    uint32_t& lane = list->lanes[i];
    if (lane == AttemptRow::kNone) {
      const auto found = lane_of_thread.find(list->rows[i].thread);
      lane = found == lane_of_thread.end() ? 0 : found->second;
    } else {
      lane_of_thread[list->rows[i].thread] = lane;
    }
  }
}

}  // namespace

uint32_t NameNumbers::Number(std::string_view name) {
  if (!names.empty() && names[recent_] == name) return recent_;
  auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    found = numbers_.emplace(std::string(name), static_cast<uint32_t>(names.size())).first;
    names.emplace_back(name);
  }
  recent_ = found->second;
  return recent_;
}

AttemptKey KeyOf(const Attempt& attempt) {
  return {attempt.process.worker, attempt.process.start_ns, attempt.chunk.number, attempt.chunk.start_ns};
}

absl::Status ListAttempts(const AttemptReader& for_each_attempt, AttemptList* list) {
  Lister lister(list);
  if (absl::Status read = for_each_attempt([&lister](const Attempt& attempt) { lister.Add(attempt); }); !read.ok()) {
    return read;
  }
  MarkResults(list->rows);
  list->lanes = AssignLanes(list->rows);
  PlaceUnended(list);
  return absl::OkStatus();
}

}  // namespace crema
