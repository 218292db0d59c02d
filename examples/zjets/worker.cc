#include "examples/zjets/worker.h"

#include <exception>
#include <future>

#include "crema/crema.h"
#include "examples/zjets/process_chunk.h"
#include "fmt/format.h"

namespace zjets {
namespace {

std::string Describe(const AnalysisInput& input, const WorkItem& item) {
  const std::string& dataset = input.options.datasets[static_cast<std::size_t>(item.dataset)].name;
  if (item.first == item.last) return fmt::format("{}, whole file", dataset);
  return fmt::format("{}, events {} to {}", dataset, item.first, item.last - 1);
}

WorkerReport TakeChunks(const AnalysisInput& input, WorkCounter* counter) {
  WorkerReport report = EmptyReport(input.options.datasets.size());
  const std::vector<WorkItem>& items = input.plan.items;
  for (std::size_t next = counter->Next(); next < items.size(); next = counter->Next()) {
    const WorkItem& item = items[next];
    try {
      report.datasets[static_cast<std::size_t>(item.dataset)].Merge(ProcessChunk(input, item));
      ++report.chunks;
    } catch (const std::exception& error) {
      report.failures.push_back(fmt::format("{}: {}", Describe(input, item), error.what()));
    }
  }
  return report;
}

}  // namespace

WorkerReport EmptyReport(std::size_t datasets) {
  WorkerReport report;
  report.datasets.resize(datasets);
  return report;
}

void WorkerReport::Merge(const WorkerReport& other) {
  for (std::size_t i = 0; i < datasets.size(); ++i) datasets[i].Merge(other.datasets[i]);
  chunks += other.chunks;
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

std::string WorkerReport::ToBytes() const {
  ByteWriter out;
  out.Put<std::uint64_t>(datasets.size());
  for (const DatasetResults& results : datasets) results.Write(out);
  out.Put(chunks);
  out.Put<std::uint64_t>(failures.size());
  for (const std::string& failure : failures) out.PutString(failure);
  return out.bytes();
}

WorkerReport WorkerReport::FromBytes(std::string_view bytes) {
  ByteReader in(bytes);
  WorkerReport report = EmptyReport(in.Get<std::uint64_t>());
  for (DatasetResults& results : report.datasets) results = DatasetResults::Read(in);
  report.chunks = in.Get<std::int64_t>();
  report.failures.resize(in.Get<std::uint64_t>());
  for (std::string& failure : report.failures) failure = in.GetString();
  return report;
}

WorkerReport RunWorker(const Options& options, const Plan& plan, WorkCounter* counter) {
  const AnalysisInput input = PrepareAnalysis(options, plan);
  crema::Span span("process");
  std::vector<std::future<WorkerReport>> threads;
  for (int i = 1; i < options.threads; ++i) {
    threads.push_back(std::async(std::launch::async, TakeChunks, std::cref(input), counter));
  }
  WorkerReport report = TakeChunks(input, counter);
  for (std::future<WorkerReport>& thread : threads) report.Merge(thread.get());
  return report;
}

}  // namespace zjets
