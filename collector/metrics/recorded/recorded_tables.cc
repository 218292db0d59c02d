#include "collector/metrics/recorded/recorded_tables.h"

#include <cxxabi.h>

#include <cstdlib>

#include "collector/idioms/text.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr std::string_view kOfProcess = "process";
constexpr std::string_view kOfHelper = "helper";
constexpr std::string_view kOfChunk = "chunk";

/// Calls `set(of, row)`, which takes what was counted there, for each row, and then `set_rest(row)` for that of
/// `(other)`. Helpers come first: what GPUs did for one is in the section of the chunk that it works for, as its path
/// says.
template <class Set, class SetRest>
void SetSections(std::vector<SectionRow>* sections, std::vector<SectionRow>* process_sections, const Set& set,
                 const SetRest& set_rest) {
  for (SectionRow& row : *process_sections) set(kOfProcess, &row);
  SectionRow* other = nullptr;
  for (const bool is_helper : {true, false}) {
    for (SectionRow& row : *sections) {
      if (*row.helper != is_helper) continue;
      if (row.path == kOtherName && !is_helper) {
        other = &row;
      } else {
        set(is_helper ? kOfHelper : kOfChunk, &row);
      }
    }
  }
  if (other != nullptr) set_rest(other);
}

void AddIfKnown(std::optional<int64_t>* sum, const std::optional<int64_t>& more) {
  *sum = sum->has_value() && more.has_value() ? std::optional<int64_t>(SaturatingAdd(**sum, *more)) : std::nullopt;
}

void RaiseIfKnown(std::optional<int64_t>* largest, const std::optional<int64_t>& other) {
  *largest = largest->has_value() && other.has_value() ? std::max(*largest, other) : std::nullopt;
}

// The same section of another process: each has its own peak, at its own time.
void AddProcess(const AllocationSums& from, std::optional<AllocationSums>* to) {
  if (!to->has_value()) {
    *to = from;
    return;
  }
  (*to)->allocations = SaturatingAdd((*to)->allocations, from.allocations);
  (*to)->allocated_bytes = SaturatingAdd((*to)->allocated_bytes, from.allocated_bytes);
  AddIfKnown(&(*to)->live_bytes, from.live_bytes);
  RaiseIfKnown(&(*to)->peak_live_bytes, from.peak_live_bytes);
  std::optional<int64_t>& growth = (*to)->live_growth_bytes;  // processes of a few chunks do not record theirs
  growth = std::max(growth, from.live_growth_bytes);
}

// Another section: when both together were largest is not known.
void AddSection(const AllocationSums& from, std::optional<AllocationSums>* to) {
  const bool is_first = !to->has_value();
  AddProcess(from, to);
  if (!is_first) (*to)->peak_live_bytes = (*to)->live_growth_bytes = std::nullopt;
}

AllocationSums None() { return {0, 0, 0, 0, 0}; }

void SetAllocated(const AllocationSums& sums, SectionRow* row) {
  row->allocations = sums.allocations;
  row->allocated_bytes = sums.allocated_bytes;
  row->live_bytes = sums.live_bytes;
  row->peak_live_bytes = sums.peak_live_bytes;
  row->live_growth_bytes = sums.live_growth_bytes;
}

// As the source has it; what is not a mangled name stays.
std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

// Keeps the later one of two lines of a log.
template <class Line>
void KeepLaterLine(Line line, Line* kept) {
  if (std::tie(kept->is_last, kept->time_ns) < std::tie(line.is_last, line.time_ns)) *kept = std::move(line);
}

void SetGpu(const GpuWork& sums, SectionRow* row) {
  SetGpuWork(sums, row);
  row->gpu_wait_seconds = SecondsOf(sums.wait_ns);
  if (sums.wait_cpu_ns.has_value()) row->gpu_wait_cpu_seconds = SecondsOf(*sums.wait_cpu_ns);
}

}  // namespace

void AllocationTable::Add(uint64_t log_hash, const AllocationsFact& fact) {
  Log log;
  log.time_ns = fact.time_ns;
  log.is_last = fact.is_last;
  log.reason = std::string(fact.reason);
  log.cost_ns = fact.cost_ns;
  if (fact.allocations.has_value() && fact.allocated_bytes.has_value()) {
    log.all = {*fact.allocations, *fact.allocated_bytes, fact.live_bytes, fact.peak_live_bytes, std::nullopt};
  }
  for (const AllocationSiteFact& section : fact.sites) {
    log.rows.push_back({std::string(section.path), std::string(section.of), section.sums});
  }
  KeepLaterLine(std::move(log), &logs_[log_hash]);
}

void AllocationTable::Merge(const AllocationTable& other) {
  for (const auto& [log_hash, log] : other.logs_) KeepLaterLine(log, &logs_[log_hash]);
}

AllocationFindings AllocationTable::Finalize(std::vector<SectionRow>* sections,
                                             std::vector<SectionRow>* process_sections) const {
  AllocationFindings findings;
  std::map<std::pair<std::string_view, std::string_view>, std::optional<AllocationSums>> by_section;
  bool is_known = !logs_.empty();
  for (const auto& [log_hash, log] : logs_) {
    if (!log.reason.empty() && (findings.reason.empty() || log.reason < findings.reason)) findings.reason = log.reason;
    is_known = is_known && log.is_last && log.all.has_value();
    if (log.cost_ns.has_value()) findings.cost_ns = SaturatingAdd(findings.cost_ns.value_or(0), *log.cost_ns);
    if (log.all.has_value()) AddProcess(*log.all, &findings.all);
    for (const Row& row : log.rows) AddProcess(row.sums, &by_section[{row.of, row.path}]);
  }
  if (!is_known) {
    findings.all = std::nullopt;
    if (!logs_.empty() && findings.reason.empty()) {
      findings.reason = "a process has not ended, or was killed: what it allocated last is not known";
    }
    return findings;
  }
  const auto set = [&by_section](std::string_view of, SectionRow* row) {
    const auto taken = by_section.extract({of, row->path.str()});
    SetAllocated(taken.empty() ? None() : *taken.mapped(), row);
  };
  SetSections(sections, process_sections, set, [&by_section](SectionRow* other) {
    std::optional<AllocationSums> rest;
    for (const auto& [section, sums] : by_section) {
      if (section.first != kOfProcess) AddSection(*sums, &rest);
    }
    SetAllocated(rest.value_or(None()), other);
  });
  return findings;
}

void GpuTable::Add(const LogRef& log, const GpuFact& fact) {
  KeepLaterLine({fact.time_ns, fact.is_last, std::string(fact.reason), fact.busy_ns.value_or(0), fact.lost.value_or(0)},
                &states_[log.index]);
  for (const GpuRowFact& row : fact.rows) {
    by_section_[{!row.chunk.has_value(), std::string(row.section)}].Add(row.work);
    if (!row.chunk.has_value()) continue;
    by_dataset_[std::string(row.dataset)].Add(row.work);
    by_chunk_[{log.index, *row.chunk}].Add(row.work);
  }
  for (const GpuKernelFact& row : fact.kernels) {
    kernels_[{std::string(row.section), std::string(row.dataset), std::string(row.name)}].Add(row);
  }
}

void GpuTable::Merge(const GpuTable& other, const std::vector<uint32_t>& logs) {
  for (const auto& [log, state] : other.states_) KeepLaterLine(state, &states_[logs[log]]);
  for (const auto& [section, sums] : other.by_section_) by_section_[section].Add(sums);
  for (const auto& [dataset, sums] : other.by_dataset_) by_dataset_[dataset].Add(sums);
  for (const auto& [key, sums] : other.by_chunk_) by_chunk_[{logs[key.first], key.second}].Add(sums);
  for (const auto& [name, kernel] : other.kernels_) kernels_[name].Add(kernel);
}

GpuFindings GpuTable::Finalize(const std::vector<AttemptKey>& results, std::vector<SectionRow>* sections,
                               std::vector<SectionRow>* process_sections) const {
  GpuFindings findings;
  int64_t busy_ns = 0, lost = 0;
  bool has_ended = true;
  for (const auto& [log, state] : states_) {
    if (!state.reason.empty() && (findings.reason.empty() || state.reason < findings.reason)) {
      findings.reason = state.reason;
    }
    busy_ns = SaturatingAdd(busy_ns, state.busy_ns);
    lost = SaturatingAdd(lost, state.lost);
    has_ended = has_ended && state.is_last;
  }
  if (states_.empty()) return findings;
  if (findings.reason.empty() && !has_ended) {
    findings.reason = "a process has not ended, or was killed: what GPUs did for it last is not known";
  }
  if (findings.reason.empty() && lost > 0) {
    findings.reason = fmt::format("the places or times of {} kernels and copies are not known", lost);
  }
  for (const auto& [name, kernel] : kernels_) {
    const auto& [section, dataset, mangled] = name;
    findings.kernels.push_back({section, Text::OrNull(dataset), Demangled(mangled), kernel.count,
                                SecondsOf(kernel.total_ns), SecondsOf(kernel.max_ns)});
  }
  SortLargestFirst(&findings.kernels, &GpuKernelRow::seconds);
  if (findings.kernels.size() > kMaxKernels) findings.kernels.resize(kMaxKernels);
  if (!findings.reason.empty()) return findings;
  findings.all = findings.of_results = GpuWork();
  findings.busy_ns = busy_ns;
  findings.by_dataset = by_dataset_;
  for (const auto& [section, sums] : by_section_) findings.all->Add(sums);
  for (const auto& [key, sums] : by_chunk_) {
    if (std::binary_search(results.begin(), results.end(), key)) findings.of_results->Add(sums);
  }
  auto left = by_section_;
  const auto set = [&left](std::string_view of, SectionRow* row) {
    const auto taken = left.extract({of == kOfProcess, row->path.str()});
    SetGpu(taken.empty() ? GpuWork() : taken.mapped(), row);
  };
  SetSections(sections, process_sections, set, [&left](SectionRow* other) {
    GpuWork rest;
    for (const auto& [section, sums] : left) {
      if (!section.first) rest.Add(sums);
    }
    SetGpu(rest, other);
  });
  return findings;
}

void MemorySectionTable::Add(const std::vector<MemorySectionFact>& sections, int64_t chunks) {
  for (const MemorySectionFact& section : sections) {
    Path path;
    path.count = section.count;
    path.chunks = chunks;
    path.delta_bytes.Add(section.delta_bytes);
    path.min_bytes = section.min_bytes;
    path.largest = {section.max_bytes, section.rss_stop_bytes, section.rss_start_bytes};
    path.peak_bytes = section.peak_bytes;
    paths_.Add(section.path, path);
  }
}

std::vector<MemorySectionRow> MemorySectionTable::Finalize(int64_t* dropped) const {
  std::vector<MemorySectionRow> rows;
  const auto add_row = [&rows](std::string_view name, const Path& path) {
    const auto& [max_bytes, rss_stop_bytes, rss_start_bytes] = path.largest;
    rows.push_back({name, path.count, path.delta_bytes.Integer(), path.min_bytes, max_bytes, rss_start_bytes,
                    rss_stop_bytes, path.peak_bytes});
  };
  const Path refused = paths_.Finalize(add_row);
  if (refused.chunks > 0) add_row(kOtherName, refused);
  *dropped = refused.chunks;
  return rows;
}

std::vector<std::pair<std::string, std::string>> AttributesOf(std::string_view attributes) {
  std::vector<std::pair<std::string, std::string>> found;
  const Json object = Json::parse(attributes, nullptr, false);
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) found.emplace_back(name, value.get<std::string>());
  }
  return found;
}

void AttributeTable::Add(std::string_view attributes, int64_t chunks) {
  constexpr size_t kMostBytes = 256 << 10, kBytesOfEntry = 64;
  const auto found = chunks_.find(absl::string_view(attributes.data(), attributes.size()));
  if (found != chunks_.end()) {
    found->second += chunks;
    return;
  }
  chunks_.emplace(std::string(attributes), chunks);
  bytes_ += attributes.size() + kBytesOfEntry;
  if (bytes_ >= kMostBytes) Divide();
}

void AttributeTable::Divide() {
  for (const auto& [attributes, chunks] : chunks_) {
    for (const auto& [name, value] : AttributesOf(attributes)) {
      Name* sums = names_.Find(CutText(name, kMaxTextBytes));
      if (sums == nullptr) {
        refused_ += chunks;
        continue;
      }
      sums->chunks += chunks;
      sums->values.Add(CutText(value, kMaxTextBytes), {chunks});
      names_.MakeRoom();
    }
  }
  chunks_.clear();
  bytes_ = 0;
}

void AttributeTable::Merge(const AttributeTable& other) {
  for (const auto& [attributes, chunks] : other.chunks_) Add(attributes, chunks);
  names_.Merge(other.names_);
  refused_ += other.refused_;
}

std::vector<AttributeRow> AttributeTable::Finalize(int64_t* dropped) && {
  Divide();
  std::vector<AttributeRow> rows;
  const ChunkCount refused = std::move(names_).Finalize([&rows](std::string_view name, Name&& sums) {
    std::vector<AttributeRow> values;
    std::move(sums.values).Finalize([&](std::string_view value, const ChunkCount& count) {
      if (value == kOtherName) return;  // a user's `(other)` is one of the others
      values.push_back({name, value, count.chunks});
    });
    SortLargestFirst(&values, &AttributeRow::chunks);
    if (values.size() > kMaxShown) values.resize(kMaxShown);
    int64_t others = sums.chunks;
    for (const AttributeRow& row : values) others -= row.chunks.integer();
    if (others > 0) values.push_back({name, kOtherName, others});
    Append(&rows, std::move(values));
  });
  *dropped = refused_ + refused.chunks;
  if (*dropped > 0) rows.push_back({kOtherName, kOtherName, Number()});
  return rows;
}

void RequestTable::Add(const std::vector<RequestFact>& requests) {
  for (const RequestFact& request : requests) {
    Sum sum = {request.count, {}, {}, request.max_ns, request.errors};
    sum.bytes.Add(request.bytes);
    sum.nanoseconds.Add(request.total_ns);
    if (request.server == kOtherName && request.operation == kOtherName) {
      other_.Add(sum);
    } else {
      sums_.Add(KeyOf({request.server, request.operation}), sum);
    }
  }
}

void RequestTable::Merge(const RequestTable& other) {
  other_.Add(other.other_);
  sums_.Merge(other.sums_);
}

std::vector<RequestSumRow> RequestTable::Finalize(int64_t* dropped) const {
  std::vector<RequestSumRow> rows;
  const auto add_row = [&rows](std::string_view server, std::string_view operation, const Sum& sum) {
    rows.push_back({server, operation, sum.calls, sum.bytes.Integer(), sum.nanoseconds.Seconds().value_or(0),
                    static_cast<double>(sum.max_ns) * 1e-9, sum.errors});
  };
  Sum rest = sums_.Finalize([&](std::string_view key, const Sum& sum) {
    const std::string_view server = TakeText(&key);
    add_row(server, TakeText(&key), sum);
  });
  SortBy(&rows, [](const RequestSumRow& row) { return std::tie(row.server, row.operation); });
  *dropped = rest.calls;
  rest.Add(other_);
  if (rest.calls > 0) add_row(kOtherName, kOtherName, rest);
  return rows;
}

void SpanTable::Add(const SpanFact& fact) {
  const std::string_view path = fact.path.empty() ? fact.name : fact.path;
  spans_.push_back({std::string(fact.name), std::string(path), fact.start_ns, fact.stop_ns});
  MakeRoom();
}

void SpanTable::MakeRoom() {
  if (spans_.size() < 2 * kMaxSpans) return;
  std::nth_element(spans_.begin(), spans_.begin() + kMaxSpans, spans_.end());
  spans_.resize(kMaxSpans);
  truncated_ = true;
}

void SpanTable::Merge(const SpanTable& other) {
  truncated_ |= other.truncated_;
  for (const SpanRow& span : other.spans_) {
    spans_.push_back(span);
    MakeRoom();
  }
}

std::vector<SpanRow> SpanTable::Finalize(bool* truncated) const {
  std::vector<SpanRow> spans = spans_;
  std::sort(spans.begin(), spans.end());
  *truncated = truncated_ || spans.size() > kMaxSpans;
  if (spans.size() > kMaxSpans) spans.resize(kMaxSpans);
  return spans;
}

PhaseRow PhaseOf(std::string_view phase, std::vector<std::pair<int64_t, int64_t>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  PhaseRow row;
  row.phase = std::string(phase);
  row.start_ns = row.stop_ns = intervals.front().first;
  int64_t union_ns = 0;
  for (const auto& [start_ns, stop_ns] : intervals) {
    union_ns += std::max<int64_t>(0, stop_ns - std::max(start_ns, row.stop_ns));
    row.stop_ns = std::max(row.stop_ns, stop_ns);
  }
  row.wall_time = static_cast<double>(union_ns) / 1e9;
  return row;
}

std::vector<PhaseRow> FindPhases(const std::vector<SpanRow>& spans) {
  std::vector<PhaseRow> phases;
  for (const std::string_view phase : {"preprocess", "process", "reduce", "postprocess"}) {
    std::vector<std::pair<int64_t, int64_t>> intervals;
    for (const SpanRow& span : spans) {
      if (span.name == phase) intervals.emplace_back(span.start_ns, span.stop_ns);
    }
    if (!intervals.empty()) phases.push_back(PhaseOf(phase, std::move(intervals)));
  }
  return phases;
}

void FileTable::File::Add(const File& other) {
  KeepLarger<&File::branches, &File::bytes>(other, this);
  AddRead(other.bytes_read);
  columns.insert(other.columns.begin(), other.columns.end());
  too_many_columns |= other.too_many_columns;
  LimitColumns();
}

void FileTable::File::LimitColumns() {
  too_many_columns |= columns.size() > kMaxColumns;
  if (too_many_columns) absl::flat_hash_set<uint64_t>().swap(columns);
}

void FileTable::MakeRoomForColumns() {
  if (!columns_.full()) return;
  columns_truncated_ = true;
  columns_.Prune();
}

void FileTable::Add(const FileFact& fact) {
  File reported;
  reported.branches = fact.branches;
  reported.bytes = fact.compressed_bytes.has_value() ? fact.compressed_bytes : fact.bytes;
  if (File* file = Find(fact.file)) file->Add(reported);
  files_.MakeRoom();
}

void FileTable::Add(const ChunkFact& chunk) {
  if (chunk.columns.empty() && (chunk.input.file.empty() || !chunk.bytes_read.has_value())) return;
  File* file = chunk.input.file.empty() ? nullptr : Find(chunk.input.file);
  if (file != nullptr) file->AddRead(chunk.bytes_read);
  if (!chunk.columns.empty()) {
    columns_known_ = true;
    StableHash list;
    for (const std::string_view column : chunk.columns) list.Add(column);
    if (file != nullptr && file->latest_columns != list.value()) {
      file->latest_columns = list.value();
      for (const std::string_view column : chunk.columns) file->columns.insert(HashOf(column));
      file->LimitColumns();
    }
    if (latest_columns_ != list.value()) {
      latest_columns_ = list.value();
      for (const std::string_view column : chunk.columns) columns_.Intern(column, HashOf(column));
      MakeRoomForColumns();
    }
  }
  files_.MakeRoom();
}

void FileTable::Add(const SumsFact& sums) {
  if (sums.input.file.empty() || !sums.bytes_read.has_value()) return;
  if (File* file = Find(sums.input.file)) file->AddRead(sums.bytes_read);
  files_.MakeRoom();
}

void FileTable::Merge(const FileTable& other) {
  columns_known_ |= other.columns_known_;
  columns_truncated_ |= other.columns_truncated_;
  columns_.Take(other.columns_);
  MakeRoomForColumns();
  files_.Merge(other.files_);
}

FileFindings FileTable::Finalize() const {
  FileFindings findings;
  findings.columns_known = columns_known_;
  findings.columns_truncated = columns_truncated_ || columns_.size() > kMaxColumns;
  BoundedNames columns = columns_;
  columns.PruneAndSort();
  for (uint32_t i = 0; i < columns.size(); ++i) findings.columns.push_back(columns.name(i));

  RealSum branch_shares;
  RealSum byte_shares;
  int64_t with_branches = 0;
  int64_t with_bytes = 0;
  files_.Finalize([&](std::string_view, const File& file) {
    if (file.branches.value_or(0) > 0 && !file.columns.empty()) {
      branch_shares.Add(static_cast<double>(file.columns.size()) / static_cast<double>(*file.branches));
      ++with_branches;
    }
    if (file.bytes.value_or(0) > 0 && file.bytes_read.has_value()) {
      byte_shares.Add(static_cast<double>(*file.bytes_read) / static_cast<double>(*file.bytes));
      ++with_bytes;
    }
  });
  if (with_branches > 0) findings.branches_read_share = branch_shares.value() / static_cast<double>(with_branches);
  if (with_bytes > 0) findings.bytes_read_share = byte_shares.value() / static_cast<double>(with_bytes);
  return findings;
}

}  // namespace crema
