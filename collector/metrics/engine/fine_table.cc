#include "collector/metrics/engine/fine_table.h"

#include <iterator>
#include <limits>
#include <utility>

namespace crema {

void FineTable::Add(const LogRef& log, const FineFact& fact) {
  for (const FineRowFact& row : fact.rows) {
    sums_.Add(log, {row.context, row.span, row.function, row.activity, row.unit}, row.value);
  }
  sums_.MakeRoom();
}

void FineTable::Merge(const FineTable& other, const std::vector<uint32_t>& logs) { sums_.Merge(other.sums_, logs); }

std::vector<EngineFineSum> FineTable::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  std::vector<EngineFineSum> rows;
  for (ProcessSums::Row& sum : sums_.Finalize(processes, dropped)) {
    EngineFineSum& row = rows.emplace_back();
    row.process = sum.process;
    row.value = sum.value.value_or(std::numeric_limits<double>::infinity());
    std::string* const fields[] = {&row.context, &row.span, &row.function, &row.activity, &row.unit};
    for (size_t i = 0; i < std::size(fields); ++i) *fields[i] = std::move(sum.texts[i]);
  }
  return rows;
}

}  // namespace crema
