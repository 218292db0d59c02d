#include "collector/detail/attempt_list.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "collector/metrics/attempts/attempt_results.h"
#include "collector/metrics/attempts/chunk_identity.h"
#include "collector/metrics/attempts/row_of_chunk.h"
#include "collector/metrics/statistics/stable_hash.h"
#include "collector/metrics/workers/lanes.h"

namespace crema {
namespace {

uint64_t IdentityOf(const Attempt& attempt) {
  const AttemptProcess& process = attempt.process;
  const ChunkInput& input = attempt.chunk.input;
  return ChunkIdentity(InputIdentity(HashOf(process.run_id), input), input,
                       HashOfLog(HashOfProcess(process), process.recorder), attempt.chunk.number);
}

class Lister {
 public:
  explicit Lister(AttemptList* list) : list_(list) {}

  void Add(const Attempt& attempt) {
    const ChunkFact& chunk = attempt.chunk;
    AttemptRow row;
    AttemptBytes bytes;
    if (attempt.has_ended()) {
      row = RowOf(chunk);
      row.helpers = AddHelpers(HelpersOf(chunk));
      bytes = {OrUnknown(chunk.bytes_read), OrUnknown(chunk.bytes_uncompressed)};
    }
    row.chunk_id = IdentityOf(attempt);
    row.start_ns = chunk.start_ns;
    row.number = chunk.number;
    row.process = ProcessOf(attempt.process);
    row.input = InputOf(chunk.input);
    row.thread = ThreadOf(row.process, chunk);
    row.status = attempt.state;
    list_->rows.Add(row);
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
    if (is_new) list_->threads.push_back({process, id, chunk.thread.value_or(0)});
    return at->second;
  }
  uint32_t AddHelpers(const std::optional<HelperTimes>& helpers) {
    if (!helpers.has_value()) return AttemptRow::kNone;
    list_->helpers.push_back(*helpers);
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

ListedAttempt KeyOf(const Attempt& attempt) {
  return {attempt.process.worker, attempt.process.start_ns, attempt.chunk.number, attempt.chunk.start_ns};
}

absl::Status ListAttempts(const AttemptReader& for_each_attempt, AttemptList* list) {
  Lister lister(list);
  if (absl::Status read = for_each_attempt([&lister](const Attempt& attempt) { lister.Add(attempt); }); !read.ok()) {
    return read;
  }
  list->rows.Seal();
  MarkResults(list->rows);
  list->lanes = AssignLanes(list->rows);
  PlaceUnended(list);
  return absl::OkStatus();
}

}  // namespace crema
