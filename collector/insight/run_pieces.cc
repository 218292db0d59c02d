#include "collector/insight/run_pieces.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "fmt/format.h"

namespace crema {
namespace {

std::string Text(const std::optional<int64_t>& number) { return number.has_value() ? std::to_string(*number) : "-"; }

std::string KeyOf(const ChunkInput& input) {
  return fmt::format("{}\n{}\n{}\n{}-{}\n{}", input.dataset, input.file, input.tree, Text(input.entry_start),
                     Text(input.entry_stop), input.pass);
}

}  // namespace

void RunPieces::Add(const Attempt& attempt) {
  if (attempt.state != AttemptState::kOk) return;
  const ChunkFact& chunk = attempt.chunk;
  const bool has_range = chunk.input.entry_start.has_value() || chunk.input.entry_stop.has_value();
  std::string key = has_range ? KeyOf(chunk.input) : "";
  if (pieces_.size() + unranged_.size() >= kMostPieces && pieces_.count(key) == 0) {
    is_cut_ = true;
    return;
  }
  RunPiece piece;
  piece.dataset = chunk.input.dataset;
  piece.file = chunk.input.file;
  if (chunk.events.has_value()) piece.events = static_cast<double>(*chunk.events);
  piece.seconds = static_cast<double>(chunk.duration_ns()) / 1e9;
  piece.waiting = std::clamp(static_cast<double>(chunk.cpu_wait_ns.value_or(0)) / 1e9, 0.0, piece.seconds);
  threads_[attempt.process.worker].insert(chunk.tid.value_or(0));
  piece.cpu = std::clamp(static_cast<double>(chunk.cpu_ns.value_or(0)) / 1e9, 0.0, piece.seconds);
  knows_waiting_ = knows_waiting_ && chunk.cpu_wait_ns.has_value();
  for (const SectionFact& section : chunk.sections) {
    if (section.helper || section.path.find('/') != std::string_view::npos) continue;
    auto found = part_index_.find(section.path);
    if (found == part_index_.end()) {
      if (parts_.size() >= kMostParts) continue;
      found = part_index_.emplace(std::string(section.path), parts_.size()).first;
      parts_.emplace_back(section.path);
    }
    if (piece.of_part.size() <= found->second) piece.of_part.resize(found->second + 1);
    piece.of_part[found->second] += static_cast<double>(section.total_ns) / 1e9;
  }
  if (has_range) {
    passes_.emplace(chunk.input.pass);
    pieces_.insert_or_assign(std::move(key), std::move(piece));
  } else {
    unranged_.push_back(std::move(piece));
  }
}

size_t RunPieces::threads_of_process() const {
  size_t most = 0;
  for (const auto& [worker, threads] : threads_) most = std::max(most, threads.size());
  return most;
}

void RunPieces::ForgetSinglePass() {
  if (passes_.size() != 1) return;
  std::map<std::string, RunPiece> named = std::move(pieces_);
  pieces_.clear();
  for (auto& [key, piece] : named) {
    pieces_.insert_or_assign(key.substr(0, key.size() - passes_.begin()->size()), std::move(piece));
  }
}

double RunPieces::seconds() const {
  double sum = 0;
  ForEach([&sum](const RunPiece& piece) { sum += piece.seconds; });
  return sum;
}

}  // namespace crema
