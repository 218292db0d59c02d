#include "examples/zjets/plan.h"

#include <algorithm>

#include "crema/crema.h"

namespace zjets {
namespace {

void AddItems(const LheFile& file, const Options& options, WorkItem item, std::vector<WorkItem>* items) {
  if (file.events() == 0) items->push_back(item);
  const std::int64_t events = options.events > 0 ? std::min(options.events, file.events()) : file.events();
  for (std::int64_t first = 0; first < events; first += options.chunk) {
    item.first = first;
    item.last = std::min(first + options.chunk, events);
    items->push_back(item);
  }
}

}  // namespace

Plan MakePlan(const Options& options) {
  crema::TrackSection section("index");
  Plan plan;
  if (options.pileup > 0) plan.pileup = IndexLheFile(options.pileup_file);
  for (const Dataset& dataset : options.datasets) {
    for (const std::string& path : dataset.files) plan.files.push_back(IndexLheFile(path));
  }
  for (int repeat = 0; repeat < options.repeat; ++repeat) {
    WorkItem item;
    item.repeat = repeat;
    for (const Dataset& dataset : options.datasets) {
      for (item.file_in_dataset = 0; item.file_in_dataset < static_cast<int>(dataset.files.size());
           ++item.file_in_dataset) {
        AddItems(plan.files[static_cast<std::size_t>(item.file)], options, item, &plan.items);
        ++item.file;
      }
      ++item.dataset;
    }
  }
  return plan;
}

std::string ToBytes(const Plan& plan) {
  ByteWriter out;
  out.Put<std::uint64_t>(plan.files.size());
  for (const LheFile& file : plan.files) Write(file, out);
  Write(plan.pileup, out);
  out.PutVector(plan.items);
  return out.bytes();
}

Plan PlanFromBytes(std::string_view bytes) {
  ByteReader in(bytes);
  Plan plan;
  plan.files.resize(in.Get<std::uint64_t>());
  for (LheFile& file : plan.files) file = ReadLheFile(in);
  plan.pileup = ReadLheFile(in);
  plan.items = in.GetVector<WorkItem>();
  return plan;
}

}  // namespace zjets
