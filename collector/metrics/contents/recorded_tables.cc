#include "collector/metrics/contents/recorded_tables.h"

#include <algorithm>
#include <utility>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {

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

void RequestTable::Add(const std::vector<RequestFact>& requests) {
  for (const RequestFact& request : requests) {
    Sum sum;
    sum.calls = request.count;
    sum.bytes.Add(request.bytes);
    sum.nanoseconds.Add(request.total_ns);
    sum.max_ns = request.max_ns;
    sum.errors = request.errors;
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
  std::sort(rows.begin(), rows.end(), [](const RequestSumRow& one, const RequestSumRow& other) {
    return std::tie(one.server, one.operation) < std::tie(other.server, other.operation);
  });
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

FileTable::File* FileTable::Find(std::string_view name) {
  const uint32_t index = recent_.IndexOf(0, name, "", [&] { return names_.Intern(name, HashOf(name)); });
  if (index == BoundedNames::kRefused) return nullptr;
  if (index >= files_.size()) files_.resize(index + 1);
  return &files_[index];
}

void FileTable::AddTo(File& file, const File& other) {
  file.branches = std::max(file.branches, other.branches);
  file.bytes = std::max(file.bytes, other.bytes);
  if (other.bytes_read.has_value()) file.bytes_read = file.bytes_read.value_or(0) + *other.bytes_read;
  file.columns.insert(other.columns.begin(), other.columns.end());
  file.too_many_columns |= other.too_many_columns;
  LimitColumns(file);
}

void FileTable::LimitColumns(File& file) {
  file.too_many_columns |= file.columns.size() > kMaxColumns;
  if (file.too_many_columns) absl::flat_hash_set<uint64_t>().swap(file.columns);
}

void FileTable::MakeRoom() {
  if (names_.full()) {
    recent_.Clear();
    names_.Prune().Apply(files_, [](const File&) {});
  }
  if (columns_.full()) {
    columns_truncated_ = true;
    columns_.Prune();
  }
}

void FileTable::Add(const FileFact& fact) {
  File reported;
  reported.branches = fact.branches;
  reported.bytes = fact.compressed_bytes.has_value() ? fact.compressed_bytes : fact.bytes;
  if (File* file = Find(fact.file)) AddTo(*file, reported);
  MakeRoom();
}

void FileTable::Add(const ChunkFact& chunk) {
  if (chunk.columns.empty() && (chunk.input.file.empty() || !chunk.bytes_read.has_value())) return;
  File* file = chunk.input.file.empty() ? nullptr : Find(chunk.input.file);
  if (file != nullptr && chunk.bytes_read.has_value()) {
    file->bytes_read = file->bytes_read.value_or(0) + *chunk.bytes_read;
  }
  if (chunk.columns.empty()) return;
  columns_known_ = true;
  StableHash list;
  for (const std::string_view column : chunk.columns) list.Add(column);
  if (file != nullptr && file->latest_columns != list.value()) {
    file->latest_columns = list.value();
    for (const std::string_view column : chunk.columns) file->columns.insert(HashOf(column));
    LimitColumns(*file);
  }
  if (latest_columns_ != list.value()) {
    latest_columns_ = list.value();
    for (const std::string_view column : chunk.columns) columns_.Intern(column, HashOf(column));
  }
  MakeRoom();
}

void FileTable::Add(const SumsFact& sums) {
  if (sums.input.file.empty() || !sums.bytes_read.has_value()) return;
  if (File* file = Find(sums.input.file)) file->bytes_read = file->bytes_read.value_or(0) + *sums.bytes_read;
  MakeRoom();
}

void FileTable::Merge(const FileTable& other) {
  columns_known_ |= other.columns_known_;
  columns_truncated_ |= other.columns_truncated_;
  columns_.Take(other.columns_);
  for (uint32_t i = 0; i < other.names_.size(); ++i) {
    if (File* file = Find(other.names_.name(i))) AddTo(*file, other.files_[i]);
  }
  MakeRoom();
}

FileFindings FileTable::Finalize() const {
  FileTable sorted = *this;
  sorted.names_.PruneAndSort().Apply(sorted.files_, [](const File&) {});
  FileFindings findings;
  findings.columns_known = columns_known_;
  findings.columns_truncated = columns_truncated_ || columns_.size() > kMaxColumns;
  sorted.columns_.PruneAndSort();
  for (uint32_t i = 0; i < sorted.columns_.size(); ++i) findings.columns.push_back(sorted.columns_.name(i));

  RealSum branch_shares;
  RealSum byte_shares;
  int64_t with_branches = 0;
  int64_t with_bytes = 0;
  for (const File& file : sorted.files_) {
    if (file.branches.value_or(0) > 0 && !file.columns.empty()) {
      branch_shares.Add(static_cast<double>(file.columns.size()) / static_cast<double>(*file.branches));
      ++with_branches;
    }
    if (file.bytes.value_or(0) > 0 && file.bytes_read.has_value()) {
      byte_shares.Add(static_cast<double>(*file.bytes_read) / static_cast<double>(*file.bytes));
      ++with_bytes;
    }
  }
  if (with_branches > 0) findings.branches_read_share = branch_shares.value() / static_cast<double>(with_branches);
  if (with_bytes > 0) findings.bytes_read_share = byte_shares.value() / static_cast<double>(with_bytes);
  return findings;
}

}  // namespace crema
