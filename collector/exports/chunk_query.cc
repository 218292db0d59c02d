#include "collector/exports/chunk_query.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "absl/strings/numbers.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

bool IsValue(const ChunkValue& value, const std::string& wanted, std::string_view field) {
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    if (*text == wanted) return true;
    const size_t slash = text->rfind('/');
    return field == "file" && slash != std::string_view::npos && text->substr(slash + 1) == wanted;
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer) == wanted;
  if (const auto* natural = std::get_if<uint64_t>(&value)) return std::to_string(*natural) == wanted;
  double number = 0;
  if (const auto* real = std::get_if<double>(&value)) return absl::SimpleAtod(wanted, &number) && number == *real;
  return wanted == "null";
}

/// `text` cut at the commas after which a `name=` follows.
std::vector<std::string> Conditions(const std::string& text) {
  std::vector<std::string> conditions;
  size_t begin = 0;
  for (size_t comma = text.find(','); begin <= text.size(); comma = text.find(',', comma + 1)) {
    const size_t equals = comma == std::string::npos ? std::string::npos : text.find('=', comma);
    const size_t next = comma == std::string::npos ? std::string::npos : text.find(',', comma + 1);
    if (comma != std::string::npos && (equals == std::string::npos || equals > next)) continue;
    conditions.push_back(text.substr(begin, comma == std::string::npos ? comma : comma - begin));
    if (comma == std::string::npos) break;
    begin = comma + 1;
  }
  return conditions;
}

}  // namespace

absl::StatusOr<ChunkQuery> ParseChunkQuery(const std::string& sort, size_t top, const std::vector<std::string>& where,
                                           bool failed) {
  ChunkQuery query;
  query.top = top;
  query.failed = failed;
  const absl::StatusOr<const ChunkField*> sort_field = FindChunkField(sort);
  if (!sort_field.ok()) return sort_field.status();
  query.sort = *sort_field;
  for (const std::string& conditions : where) {
    for (const std::string& condition : Conditions(conditions)) {
      const size_t equals = condition.find('=');
      if (equals == std::string::npos) {
        return absl::InvalidArgumentError(
            fmt::format("`{}` is no condition; write FIELD=VALUE, as in --where dataset=ttbar", condition));
      }
      const absl::StatusOr<const ChunkField*> field = FindChunkField(condition.substr(0, equals));
      if (!field.ok()) return field.status();
      query.where.push_back({*field, condition.substr(equals + 1)});
    }
  }
  return query;
}

bool Matches(const ChunkQuery& query, const Attempt& attempt) {
  if (query.failed && attempt.state != AttemptState::kFailed && attempt.state != AttemptState::kLost) return false;
  return std::all_of(query.where.begin(), query.where.end(), [&](const ChunkCondition& condition) {
    return IsValue(condition.field->value(attempt), condition.value, condition.field->name);
  });
}

bool TopChunks::Before(const Kept& left, const Kept& right) {
  if (left.rank != right.rank) return left.rank < right.rank;
  if (left.number != right.number) return left.number > right.number;
  return std::tie(left.text, left.start_ns, left.worker, left.chunk) <
         std::tie(right.text, right.start_ns, right.worker, right.chunk);
}

void TopChunks::Add(const Attempt& attempt) {
  ++seen_;
  if (!Matches(query_, attempt)) return;
  ++matched_;
  Kept kept;
  const ChunkValue value = query_.sort->value(attempt);
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    kept.number = static_cast<double>(*integer);
  } else if (const auto* natural = std::get_if<uint64_t>(&value)) {
    kept.number = static_cast<double>(*natural);
  } else if (const auto* real = std::get_if<double>(&value)) {
    kept.number = *real;
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    kept.text = *text;
  } else {
    kept.rank = 1;
  }
  kept.start_ns = attempt.chunk.start_ns;
  kept.worker = attempt.process.worker;
  kept.chunk = attempt.chunk.number;
  if (heap_.size() == query_.top) {
    if (heap_.empty() || !Before(kept, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), Before);
    heap_.pop_back();
  }
  kept.row = ChunkAsJson(attempt);
  heap_.push_back(std::move(kept));
  std::push_heap(heap_.begin(), heap_.end(), Before);
}

Json TopChunks::Take() {
  std::sort_heap(heap_.begin(), heap_.end(), Before);
  Json rows = Json::array();
  for (Kept& kept : heap_) rows.push_back(std::move(kept.row));
  heap_.clear();
  return rows;
}

}  // namespace crema
