#include "collector/metrics/attempts/attempt_table.h"

#include "collector/records/sums_so_far.h"

namespace crema {
namespace {

// The kind of name, three lengths, dataset, file, tree and pass.
void EncodeInput(char kind, const InputName& input, std::string& name) {
  name.assign(1, kind);
  for (const std::string_view part : {input.dataset, input.file, input.tree}) {
    const auto bytes = static_cast<uint32_t>(part.size());
    name.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  }
  name.append(input.dataset).append(input.file).append(input.tree).append(input.pass);
}

InputName DecodeInput(std::string_view name) {
  uint32_t bytes[3];
  std::memcpy(bytes, name.data() + 1, sizeof(bytes));
  name.remove_prefix(1 + sizeof(bytes));
  const auto take = [&name](uint32_t count) {
    const std::string_view part = name.substr(0, count);
    name.remove_prefix(count);
    return part;
  };
  InputName input = {take(bytes[0]), take(bytes[1]), take(bytes[2])};
  input.pass = name;
  return input;
}

// The file `(other)` of the dataset and pass; where there are more of these than room, the file of all of them.
std::string StandInOf(std::string_view name) {
  const bool ordinary = name.front() == NamesWithOther::kOrdinary;
  const InputName input = ordinary ? DecodeInput(name) : InputName{kOtherName};
  std::string stand_in;
  EncodeInput(ordinary ? NamesWithOther::kStandIn : NamesWithOther::kLast, {input.dataset, kOtherName, "", input.pass},
              stand_in);
  return stand_in;
}

// Lets the caller skip the pass over all rows if nothing changed.
bool ChangesNothing(const Renumbering& renumbering) {
  for (uint32_t i = 0; i < renumbering.size(); ++i) {
    if (renumbering[i] != i) return false;
  }
  return true;
}

struct Nested {
  size_t index;
  uint32_t writer;
  int64_t stop_ns;
  AttemptRow row;  ///< its times and faults are less than they were as soon as something is inside
  bool is_changed = false;
};

void TakeOff(int64_t inner_ns, int64_t& outer_ns) {
  const bool is_known = inner_ns != AttemptRow::kUnknown && outer_ns != AttemptRow::kUnknown;
  outer_ns = is_known ? std::max<int64_t>(0, outer_ns - inner_ns) : AttemptRow::kUnknown;
}

/// `attempts`: of one thread, by start; of two that start at once, the one around the other first. A record leaves out
/// what its own writer has inside it. So each comes off the innermost one around it of each other writer.
void TakeOffInThread(absl::Span<Nested> attempts) {
  std::map<uint32_t, std::vector<Nested*>> open;    // by writer: those that may be the innermost one, latest end first
  std::vector<std::pair<Nested*, Nested*>> inside;  // the inner one, and the outer
  for (Nested& inner : attempts) {
    // One that `inner` outlasts is not around it: the clocks of two logs may differ.
    const auto is_around = [&inner](const Nested* outer) {
      return outer->stop_ns > inner.row.start_ns && outer->stop_ns >= inner.stop_ns;
    };
    for (auto of = open.begin(); of != open.end();) {
      const auto behind = absl::c_partition_point(of->second, is_around);
      if (behind != of->second.begin() && of->first != inner.writer) inside.emplace_back(&inner, *(behind - 1));
      of = of->second.front()->stop_ns > inner.row.start_ns ? std::next(of) : open.erase(of);
    }
    std::vector<Nested*>& own = open[inner.writer];
    while (!own.empty() && own.back()->stop_ns <= inner.stop_ns) own.pop_back();
    own.push_back(&inner);
  }
  // An inner one begins later: all that is inside it is off when it comes off those around it.
  for (auto pair = inside.rbegin(); pair != inside.rend(); ++pair) {
    const auto& [inner, outer] = *pair;
    for (const auto part : {&AttemptRow::duration_ns, &AttemptRow::cpu_ns, &AttemptRow::cpu_wait_ns,
                            &AttemptRow::system_cpu_ns, &AttemptRow::minor_faults, &AttemptRow::major_faults}) {
      TakeOff(inner->row.*part, outer->row.*part);
    }
    outer->is_changed = true;
  }
}

/// The processes of which more than one copy of the SDK has attempts.
absl::flat_hash_set<uint32_t> WithSeveralWriters(const AttemptRows& rows, const std::vector<uint32_t>& process_of_log,
                                                 const std::vector<uint32_t>& writer_of_log) {
  std::map<uint32_t, uint32_t> first_of_process;
  absl::flat_hash_set<uint32_t> with_several;
  const std::vector<size_t> rows_of_log = rows.CountByProcess(process_of_log.size());
  for (size_t log = 0; log < process_of_log.size(); ++log) {
    if (rows_of_log[log] == 0) continue;
    const uint32_t first = first_of_process.try_emplace(process_of_log[log], writer_of_log[log]).first->second;
    if (first != writer_of_log[log]) with_several.insert(process_of_log[log]);
  }
  return with_several;
}

// Calls `visit` for each text of a fact.
template <class Fact, class Visit>
void ForEachText(Fact& fact, const Visit& visit) {
  const auto visit_each = [&visit](auto&... texts) { (visit(texts), ...); };
  visit_each(fact.reason, fact.input.dataset, fact.input.file, fact.input.pass);
  for (auto& section : fact.sections) visit(section.path);
  for (auto& section : fact.memory_sections) visit(section.path);
  for (auto& metric : fact.metrics) visit_each(metric.name, metric.unit);
  for (auto& cut : fact.cuts) visit_each(cut.name, cut.path, cut.flow);
  for (auto& activity : fact.activities) visit_each(activity.label, activity.unit);
  for (auto& request : fact.requests) visit_each(request.server, request.operation);
  for (auto& wait : fact.waits) visit_each(wait.path, wait.kind, wait.object, wait.stack);
}

// The name by which rows differ.
std::string SumsName(const LogRef& log, const SumsFact& fact) {
  return std::string(reinterpret_cast<const char*>(&log.log_hash), sizeof(log.log_hash)) + NameOfSums(fact);
}

// Sums only grow.
bool IsLater(const SumsFact& one, const SumsFact& other) {
  const auto order = [](const SumsFact& fact) { return std::tie(fact.chunks, fact.time_ns, fact.duration_ns); };
  return order(one) > order(other);
}

}  // namespace

InputTable::InputTable() : names_(kMaxInputs, StandInOf) {}

InputName InputTable::name(uint32_t index) const { return DecodeInput(names_.name(index)); }

uint32_t InputTable::Intern(const InputName& input) {
  EncodeInput(NamesWithOther::kOrdinary, input, name_);
  return names_.Intern(name_);
}

const RecentInput& AttemptTable::InternInput(const LogRef& log, const ChunkInput& input) {
  if (const RecentInput* recent = recent_inputs_.Find(log.run_hash, input)) return *recent;
  RecentInput made;
  made.run_hash = log.run_hash;
  made.index = inputs_.Intern({input.dataset, input.file, input.tree, input.pass});
  made.identity = InputIdentity(log.run_hash, input);
  return recent_inputs_.Keep(input, made);
}

template <class Fact>
uint32_t AttemptTable::InternThreadOf(const LogRef& log, const Fact& fact) {
  // The thread that began an event that no thread holds did little of it.
  const uint64_t id = fact.is_detached ? 0 : IdOfThread(fact);
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  RecentThread& recent = recent_threads_[((log.process_hash ^ id) * kGolden) >> 58];
  if (recent.index == BoundedNames::kRefused || recent.process_hash != log.process_hash || recent.id != id) {
    char name[16];
    std::memcpy(name, &log.process_hash, 8);
    std::memcpy(name + 8, &id, 8);
    const std::string_view view(name, sizeof(name));
    const Thread thread = {log.index, id, fact.is_detached ? 0 : fact.thread.value_or(0)};
    recent = {log.process_hash, id, InternThread(view, HashOf(view), thread)};
  }
  return recent.index;
}

uint32_t AttemptTable::InternThread(std::string_view name, uint64_t rank, const Thread& thread) {
  const uint32_t index = thread_names_.Intern(name, rank);
  if (index != BoundedNames::kRefused && index >= threads_.size()) {
    threads_.push_back(thread);
    bytes_of_thread_.resize(threads_.size());
  }
  return index;
}

void AttemptTable::Add(const LogRef& log, const BeginFact& fact) {
  AttemptRow row;
  const RecentInput& input = InternInput(log, fact.input);
  row.chunk_id = ChunkIdentity(input.identity, fact.input, log.log_hash, fact.number);
  row.start_ns = fact.time_ns;
  row.process = log.index;
  row.input = input.index;
  row.thread = InternThreadOf(log, fact);
  row.number = fact.number;
  if (fact.suspended > 0) suspending_logs_.insert(log.index);
  if (fact.inside.has_value()) nesting_logs_.insert(log.index);
  begun_.insert_or_assign(AttemptKey(log.index, fact.number), row);
  MakeRoom();
}

void AttemptTable::Add(const LogRef& log, const ChunkFact& fact) {
  if (!begun_.empty()) begun_.erase(AttemptKey(log.index, fact.number));
  AttemptRow row = RowOf(fact);
  const RecentInput& input = InternInput(log, fact.input);
  row.chunk_id = ChunkIdentity(input.identity, fact.input, log.log_hash, fact.number);
  if (fact.suspended_ns > 0) suspending_logs_.insert(log.index);
  if (fact.inner_ns > 0) nesting_logs_.insert(log.index);
  row.process = log.index;
  row.input = input.index;
  row.thread = InternThreadOf(log, fact);
  if (const std::optional<HelperTimes> helpers = HelpersOf(fact)) {
    row.helpers = static_cast<uint32_t>(helpers_.size());
    helpers_.push_back(*helpers);
  }
  rows_.Add(row);

  GrownAt(&bytes_of_input_, row.input).Add(fact.bytes_read, fact.bytes_uncompressed);
  (row.thread == BoundedNames::kRefused ? bytes_of_other_threads_ : bytes_of_thread_[row.thread])
      .Add(fact.bytes_read, fact.bytes_uncompressed);
  GrownAt(&bytes_of_log_, log.index).Add(fact.bytes_read, fact.bytes_uncompressed);
  MakeRoom();
}

void AttemptTable::Add(const LogRef& log, const SumsFact& fact) {
  for (const int64_t number : fact.begun) begun_and_summed_.insert(AttemptKey(log.index, number));
  SummedAttempts summed = SummedOf(fact);
  AttemptRow& row = summed.row;
  row.process = log.index;
  row.input = InternInput(log, fact.input).index;
  row.thread = BoundedNames::kRefused;
  row.helpers = static_cast<uint32_t>(helpers_.size());
  helpers_.push_back(HelpersOf(fact));
  summed_.push_back(summed);

  const ByteSums bytes = BytesOf(fact);
  GrownAt(&bytes_of_input_, row.input).Add(bytes);
  bytes_of_other_threads_.Add(bytes);
  GrownAt(&bytes_of_log_, log.index).Add(bytes);
  MakeRoom();
}

void AttemptTable::MakeRoom() {
  if (inputs_.full()) RenumberInputs(inputs_.Prune());
  if (thread_names_.full()) RenumberThreads(thread_names_.Prune());
}

void AttemptTable::RenumberInputs(const Renumbering& renumbering) {
  renumbering.ApplySumming(bytes_of_input_, [](ByteSums& to, const ByteSums& from) { to.Add(from); });
  if (ChangesNothing(renumbering)) return;
  recent_inputs_.Clear();
  rows_.Renumber<&AttemptRow::input>([&](uint32_t input) { return renumbering[input]; });
  for (auto& [key, row] : begun_) row.input = renumbering[row.input];
  for (SummedAttempts& summed : summed_) summed.row.input = renumbering[summed.row.input];
}

void AttemptTable::RenumberThreads(const Renumbering& renumbering) {
  if (ChangesNothing(renumbering)) return;
  recent_threads_.fill({});
  rows_.Renumber<&AttemptRow::thread>([&](uint32_t thread) { return renumbering[thread]; });
  for (auto& [key, row] : begun_) row.thread = renumbering[row.thread];
  renumbering.Apply(threads_, [](const Thread&) {});
  renumbering.Apply(bytes_of_thread_, [this](const ByteSums& bytes) { bytes_of_other_threads_.Add(bytes); });
}

void AttemptTable::Merge(AttemptTable other, const std::vector<uint32_t>& logs) {
  // Their names get numbers here first. Making room may renumber these, so it is done only once all is in.
  const std::vector<uint32_t> inputs = inputs_.Take(other.inputs_);
  std::vector<uint32_t> threads;
  for (uint32_t i = 0; i < other.thread_names_.size(); ++i) {
    Thread thread = other.threads_[i];
    thread.log = logs[thread.log];
    threads.push_back(InternThread(other.thread_names_.name(i), other.thread_names_.rank(i), thread));
  }
  const auto log_of = [&](uint32_t log) { return logs[log]; };
  const auto input_of = [&](uint32_t input) { return inputs[input]; };
  const auto thread_of = [&](uint32_t thread) { return thread == BoundedNames::kRefused ? thread : threads[thread]; };
  other.rows_.Renumber<&AttemptRow::process>(log_of);
  other.rows_.Renumber<&AttemptRow::input>(input_of);
  other.rows_.Renumber<&AttemptRow::thread>(thread_of);
  other.rows_.ShiftHelpers(static_cast<uint32_t>(helpers_.size()));
  rows_.Take(std::move(other.rows_));
  for (auto& [key, row] : other.begun_) {
    row.process = log_of(row.process);
    row.input = input_of(row.input);
    row.thread = thread_of(row.thread);
    begun_.insert_or_assign(AttemptKey(logs[key.first], key.second), row);
  }
  for (const uint32_t log : other.suspending_logs_) suspending_logs_.insert(logs[log]);
  for (const uint32_t log : other.nesting_logs_) nesting_logs_.insert(logs[log]);
  helpers_.insert(helpers_.end(), other.helpers_.begin(), other.helpers_.end());

  for (size_t i = 0; i < other.bytes_of_input_.size(); ++i) {
    GrownAt(&bytes_of_input_, inputs[i]).Add(other.bytes_of_input_[i]);
  }
  for (size_t i = 0; i < other.bytes_of_thread_.size(); ++i) {
    (threads[i] == BoundedNames::kRefused ? bytes_of_other_threads_ : bytes_of_thread_[threads[i]])
        .Add(other.bytes_of_thread_[i]);
  }
  bytes_of_other_threads_.Add(other.bytes_of_other_threads_);
  for (size_t i = 0; i < other.bytes_of_log_.size(); ++i) GrownAt(&bytes_of_log_, logs[i]).Add(other.bytes_of_log_[i]);
  MakeRoom();
}

int64_t AttemptTable::JudgeBegun(const ProcessFindings& processes, std::vector<uint32_t>* vanished_in_chunk) {
  // In the order in which a thread began them: whatever it began afterwards shows that the one before had ended.
  using Place = std::tuple<uint32_t, uint32_t, int64_t, int64_t>;  // log, thread, start, number
  struct Begun {
    Place place;
    AttemptRow* row;
    std::optional<int64_t> next_ns;
  };
  const auto place_of = [](const AttemptRow& row) { return Place(row.process, row.thread, row.start_ns, row.number); };
  std::vector<Begun> begun;
  for (auto& [key, row] : begun_) {
    if (!begun_and_summed_.contains(key)) begun.push_back({place_of(row), &row, std::nullopt});
  }
  std::sort(begun.begin(), begun.end(), [](const Begun& a, const Begun& b) { return a.place < b.place; });
  const auto see = [&](const AttemptRow& row) {
    if (row.thread == BoundedNames::kRefused || threads_[row.thread].id == 0) return;  // whose it is cannot be known
    const Place place = place_of(row);
    const auto after =
        std::lower_bound(begun.begin(), begun.end(), place, [](const Begun& a, const Place& b) { return a.place < b; });
    if (after == begun.begin()) return;
    Begun& before = *(after - 1);
    if (before.row->process != row.process || before.row->thread != row.thread) return;
    before.next_ns = std::min(before.next_ns.value_or(row.start_ns), row.start_ns);
  };
  const std::vector<size_t> ended = rows_.CountByProcess(processes.end_of_log.size());
  if (!begun.empty()) {
    for (const AttemptRow& row : rows_) see(row);
  }
  for (auto& [key, row] : begun_) see(row);

  for (const AttemptKey& key : begun_and_summed_) begun_.erase(key);

  std::vector<int64_t> unrecorded(processes.end_of_log.size());
  for (auto first = begun.begin(); first != begun.end();) {
    const uint32_t log = first->row->process;
    const ProcessRow& process = processes.processes[processes.process_of_log[log]];
    std::vector<UnendedAttempt> attempts;
    auto last = first;
    for (; last != begun.end() && last->row->process == log; ++last) {
      attempts.push_back({last->row->number, last->row->start_ns, last->next_ns, false});
    }
    const bool overlap = suspending_logs_.contains(log) || nesting_logs_.contains(log);
    FindEnded(attempts, processes.end_of_log[log].open, overlap);
    for (const UnendedAttempt& attempt : attempts) {
      AttemptRow& row = begun_.at(AttemptKey(log, attempt.number));
      row.status = process.state == ProcessState::kRunning ? AttemptState::kRunning : AttemptState::kLost;
      if (!attempt.has_ended) {
        if (row.status == AttemptState::kLost) vanished_in_chunk->push_back(processes.process_of_log[log]);
        continue;
      }
      row.status = AttemptState::kUnrecorded;
      row.duration_ns = std::max<int64_t>(0, attempt.next_ns.value_or(process.last_ns) - row.start_ns);
      ++unrecorded[log];
    }
    first = last;
  }
  int64_t lost = 0;
  for (size_t log = 0; log < processes.end_of_log.size(); ++log) {
    const int64_t missing = processes.end_of_log[log].chunks.value_or(0) - static_cast<int64_t>(ended[log]);
    lost = SaturatingAdd(lost, std::max(unrecorded[log], missing));
  }
  return lost;
}

AttemptFindings AttemptTable::Finalize(const ProcessFindings& processes, std::vector<AttemptKey>* results,
                                       const WorkLimits& limits) && {
  RenumberInputs(inputs_.Prune());
  RenumberThreads(thread_names_.Prune());

  rows_.Seal();
  // A begin and its chunk line may have been read apart.
  if (!begun_.empty()) {
    for (const AttemptRow& row : rows_) begun_.erase(AttemptKey(row.process, row.number));
  }
  AttemptFindings findings;
  findings.records_lost = JudgeBegun(processes, &findings.vanished_in_chunk);
  const auto has_thread = [this](const AttemptRow& row) {
    return row.thread != BoundedNames::kRefused && threads_[row.thread].id != 0 &&
           (row.suspended_ns == 0 || suspending_logs_.count(row.process) == 0);
  };
  findings.nested_ns = TakeNestedTimeOff(processes.process_of_log, processes.writer_of_log, has_thread, rows_);
  for (auto& [key, row] : begun_) rows_.Add(row);
  findings.rows = std::move(rows_).Ordered(processes.process_of_log, limits);
  findings.counts = MarkResults(findings.rows, limits);
  for (const SummedAttempts& summed : summed_) findings.counts.Add(summed);
  if (results != nullptr) {
    for (const AttemptRow& row : findings.rows) {
      if (row.is_result) results->emplace_back(row.process, row.number);
    }
    std::sort(results->begin(), results->end());
  }

  // Datasets and files in order of name.
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    findings.datasets.emplace_back(inputs_.name(i).dataset);
    findings.files.emplace_back(inputs_.name(i).file);
  }
  findings.dataset_of_input = SortAndNumber(&findings.datasets);
  findings.file_of_input = SortAndNumber(&findings.files);
  bytes_of_input_.resize(inputs_.size());
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    GrownAt(&findings.bytes_of_dataset, findings.dataset_of_input[i]).Add(bytes_of_input_[i]);
    GrownAt(&findings.bytes_of_file, findings.file_of_input[i]).Add(bytes_of_input_[i]);
    findings.bytes.Add(bytes_of_input_[i]);
    findings.kinds.emplace_back(findings.dataset_of_input[i], inputs_.name(i).pass);
  }
  findings.kind_of_input = SortAndNumber(&findings.kinds);  // they were by input

  // Threads in order of process and id, `(other)` last.
  std::vector<std::tuple<uint32_t, uint64_t, uint32_t>> threads;
  for (uint32_t i = 0; i < threads_.size(); ++i) {
    threads.emplace_back(processes.process_of_log[threads_[i].log], threads_[i].id, i);
  }
  std::sort(threads.begin(), threads.end());
  std::vector<uint32_t> thread_order(threads.size());
  for (const auto& [process, id, index] : threads) {
    thread_order[index] = static_cast<uint32_t>(findings.threads.size());
    findings.threads.push_back(processes.processes[process].worker() + "/" + std::to_string(id));
    findings.thread_ids.push_back(threads_[index].pthread);
    findings.bytes_of_thread.push_back(bytes_of_thread_[index]);
  }
  findings.threads.emplace_back(kOtherName);
  findings.thread_ids.push_back(0);
  findings.bytes_of_thread.push_back(bytes_of_other_threads_);

  findings.bytes_of_process.resize(processes.processes.size());
  for (uint32_t i = 0; i < bytes_of_log_.size(); ++i) {
    findings.bytes_of_process[processes.process_of_log[i]].Add(bytes_of_log_[i]);
  }
  const auto thread_of = [&](uint32_t thread) {
    return thread == BoundedNames::kRefused ? static_cast<uint32_t>(findings.threads.size() - 1) : thread_order[thread];
  };
  findings.rows.Renumber<&AttemptRow::process>([&](uint32_t log) { return processes.process_of_log[log]; });
  findings.rows.Renumber<&AttemptRow::thread>(thread_of);
  findings.summed = std::move(summed_);
  for (SummedAttempts& summed : findings.summed) {
    summed.row.process = processes.process_of_log[summed.row.process];
    summed.row.thread = thread_of(summed.row.thread);
  }
  findings.helpers = std::move(helpers_);
  return findings;
}

int64_t TakeNestedTimeOff(const std::vector<uint32_t>& process_of_log, const std::vector<uint32_t>& writer_of_log,
                          absl::FunctionRef<bool(const AttemptRow&)> has_thread, AttemptRows& rows) {
  const absl::flat_hash_set<uint32_t> with_several = WithSeveralWriters(rows, process_of_log, writer_of_log);
  if (with_several.empty()) return 0;
  std::vector<Nested> attempts;
  rows.ForEachOf({{0, rows.size()}}, [&](size_t index, const AttemptRow& row) {
    if (with_several.contains(process_of_log[row.process]) && row.duration_ns >= 0 && has_thread(row)) {
      attempts.push_back({index, writer_of_log[row.process], row.stop_ns(), row});
    }
  });
  std::sort(attempts.begin(), attempts.end(), [](const Nested& a, const Nested& b) {
    return std::tie(a.row.thread, a.row.start_ns, b.stop_ns, a.writer, a.index) <
           std::tie(b.row.thread, b.row.start_ns, a.stop_ns, b.writer, b.index);
  });
  for (auto first = attempts.begin(); first != attempts.end();) {
    const auto last =
        std::find_if(first, attempts.end(), [&](const Nested& one) { return one.row.thread != first->row.thread; });
    TakeOffInThread(absl::MakeSpan(&*first, static_cast<size_t>(last - first)));
    first = last;
  }
  EraseWhere(&attempts, [](const Nested& one) { return !one.is_changed; });
  SortBy(&attempts, &Nested::index);
  int64_t taken_ns = 0;
  std::vector<std::pair<size_t, AttemptRow>> changed;
  for (Nested& attempt : attempts) {
    const int64_t less_ns = attempt.stop_ns - attempt.row.stop_ns();
    taken_ns += less_ns;
    attempt.row.suspended_ns += less_ns;  // it stops when it did
    changed.emplace_back(attempt.index, attempt.row);
  }
  rows.Replace(changed);
  return taken_ns;
}

std::shared_ptr<const SumsTable::Kept> SumsTable::Keep(const SumsFact& fact) {
  auto kept = std::make_shared<Kept>();
  kept->fact = fact;
  size_t bytes = 0;
  ForEachText(fact, [&bytes](std::string_view text) { bytes += text.size(); });
  kept->texts.reserve(bytes);  // so that views into it stay
  ForEachText(kept->fact, [&kept](std::string_view& text) {
    const size_t begin = kept->texts.size();
    kept->texts.append(text);
    text = std::string_view(kept->texts).substr(begin);
  });
  return kept;
}

void SumsTable::Row::Add(const Row& other) {
  if (kept == nullptr || (other.kept != nullptr && IsLater(other.kept->fact, kept->fact))) *this = other;
}

void SumsTable::Add(const LogRef& log, const SumsFact& fact) { rows_.Add(SumsName(log, fact), {log, Keep(fact)}); }

void SumsTable::Merge(const SumsTable& other, const std::vector<uint32_t>& logs) {
  rows_.Merge(other.rows_, [&logs](Row row) {
    row.log.index = logs[row.log.index];
    return row;
  });
}

}  // namespace crema
