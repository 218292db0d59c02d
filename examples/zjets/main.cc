// zjets: Z bosons with jets in Les Houches event files, under pile-up. See README.md.
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>

#include "crema/crema.h"
#include "examples/zjets/options.h"
#include "examples/zjets/plan.h"
#include "examples/zjets/results_output.h"
#include "examples/zjets/work_counter.h"
#include "examples/zjets/worker.h"
#include "examples/zjets/worker_processes.h"
#include "fmt/format.h"

namespace zjets {
namespace {

Plan Preprocess(const Options& options) {
  crema::Span span("preprocess");
  Plan plan = MakePlan(options);
  if (!plan.pileup.gzip.damage.empty()) throw std::runtime_error(plan.pileup.gzip.damage);
  return plan;
}

WorkerReport Distribute(const Plan& plan, const Options& options, WorkerProcesses* workers) {
  workers->SendToAll(ToBytes(plan));
  std::vector<WorkerProcesses::Answer> answers;
  {
    crema::TrackSection section("wait for workers");
    answers = workers->Receive();
  }
  crema::Span span("reduce");
  crema::TrackSection section("merge");
  WorkerReport merged = EmptyReport(options.datasets.size());
  for (const WorkerProcesses::Answer& answer : answers) {
    if (answer.message.has_value()) {
      merged.Merge(WorkerReport::FromBytes(*answer.message));
    } else {
      merged.failures.push_back(answer.worker + ": its chunks are missing");
    }
  }
  return merged;
}

void Output(const Options& options, const Plan& plan, const WorkerReport& report) {
  crema::Span span("postprocess");
  crema::TrackSection section("write");
  if (!options.output.empty()) WriteFile(options.output, ResultsAsJson(options, plan, report));
  fmt::print("{}", CutFlowTable(options, plan, report));
}

int Run(const Options& options) {
  WorkCounter counter;
  // before anything else: the workers must inherit neither threads nor open guards
  WorkerProcesses workers(options.processes, [&](std::string_view message) {
    const Plan plan = PlanFromBytes(message);
    return RunWorker(options, plan, &counter).ToBytes();
  });
  const Plan plan = Preprocess(options);
  const WorkerReport report =
      options.processes == 0 ? RunWorker(options, plan, &counter) : Distribute(plan, options, &workers);
  Output(options, plan, report);
  for (const std::string& failure : report.failures) fmt::print(stderr, "zjets: {}\n", failure);
  if (report.failures.empty()) return 0;
  fmt::print(stderr, "zjets: {} of {} chunks succeeded; the results lack the others\n", report.chunks,
             plan.items.size());
  return 1;
}

}  // namespace
}  // namespace zjets

int main(int argc, char** argv) {
  int exit_status = 0;
  const std::optional<zjets::Options> options = zjets::ParseOptions(argc, argv, &exit_status);
  if (!options.has_value()) return exit_status;
  try {
    return zjets::Run(*options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "zjets: {}\n", error.what());
    return 1;
  }
}
