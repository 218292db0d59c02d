#include "collector/metrics/attempts/file_table.h"

#include <algorithm>
#include <utility>

#include "collector/metrics/statistics/real_sum.h"
#include "collector/metrics/statistics/stable_hash.h"

namespace crema {

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
  File told;
  told.branches = fact.branches;
  told.bytes = fact.compressed_bytes.has_value() ? fact.compressed_bytes : fact.bytes;
  if (File* file = Find(fact.file)) AddTo(*file, told);
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
  for (uint32_t i = 0; i < other.columns_.size(); ++i) columns_.Intern(other.columns_.name(i), other.columns_.rank(i));
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
