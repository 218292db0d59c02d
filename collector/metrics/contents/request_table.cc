#include "collector/metrics/contents/request_table.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

// A text may hold any character, so the server's length tells where the operation begins.
std::string NameOf(std::string_view server, std::string_view operation) {
  std::string name = std::to_string(server.size());
  name.append(":").append(server).append(operation);
  return name;
}

std::pair<std::string_view, std::string_view> PartsOf(std::string_view name) {
  const size_t colon = name.find(':');
  size_t length = 0;
  for (const char digit : name.substr(0, colon)) length = 10 * length + static_cast<size_t>(digit - '0');
  return {name.substr(colon + 1, length), name.substr(colon + 1 + length)};
}

}  // namespace

void RequestTable::Sum::Add(const Sum& other) {
  calls = AddCounts(calls, other.calls);
  bytes.Add(other.bytes);
  nanoseconds.Add(other.nanoseconds);
  max_ns = std::max(max_ns, other.max_ns);
  errors = AddCounts(errors, other.errors);
}

void RequestTable::Add(const std::string& name, const Sum& sum) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index == BoundedNames::kRefused) {
    refused_.Add(sum);
    return;
  }
  if (index >= sums_.size()) sums_.resize(index + 1);
  sums_[index].Add(sum);
  if (names_.full()) {
    names_.Prune().Apply(sums_, [this](const Sum& refused) { refused_.Add(refused); });
  }
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
      Add(NameOf(request.server, request.operation), sum);
    }
  }
}

void RequestTable::Merge(const RequestTable& other) {
  other_.Add(other.other_);
  refused_.Add(other.refused_);
  for (uint32_t i = 0; i < other.names_.size(); ++i) Add(other.names_.name(i), other.sums_[i]);
}

std::vector<RequestSumRow> RequestTable::Finalize(int64_t* dropped) const {
  RequestTable pruned = *this;
  pruned.names_.Prune().Apply(pruned.sums_, [&pruned](const Sum& refused) { pruned.refused_.Add(refused); });
  std::vector<RequestSumRow> rows;
  const auto add_row = [&rows](std::string_view server, std::string_view operation, const Sum& sum) {
    rows.push_back({std::string(server), std::string(operation), sum.calls, sum.bytes.Integer(),
                    sum.nanoseconds.Seconds().value_or(0), static_cast<double>(sum.max_ns) * 1e-9, sum.errors});
  };
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    const auto [server, operation] = PartsOf(pruned.names_.name(i));
    add_row(server, operation, pruned.sums_[i]);
  }
  std::sort(rows.begin(), rows.end(), [](const RequestSumRow& one, const RequestSumRow& other) {
    return std::tie(one.server, one.operation) < std::tie(other.server, other.operation);
  });
  *dropped = pruned.refused_.calls;
  pruned.refused_.Add(pruned.other_);
  if (pruned.refused_.calls > 0) add_row(kOtherName, kOtherName, pruned.refused_);
  return rows;
}

}  // namespace crema
