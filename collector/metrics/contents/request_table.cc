#include "collector/metrics/contents/request_table.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace crema {

void RequestTable::Sum::Add(const Sum& other) {
  calls = AddCounts(calls, other.calls);
  bytes.Add(other.bytes);
  nanoseconds.Add(other.nanoseconds);
  max_ns = std::max(max_ns, other.max_ns);
  errors = AddCounts(errors, other.errors);
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

}  // namespace crema
