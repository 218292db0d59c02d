#include "collector/engines/taskvine/catalog_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace crema {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSecond = 1'000'000'000;
/// A manager tells the catalog of itself once a minute.
constexpr int64_t kLateSeconds = 150;
constexpr const char* kWholeQueue = "whole queue";

int64_t Count(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? std::max<int64_t>(0, found->get<int64_t>()) : 0;
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

CatalogFeed::CatalogFeed(std::string engine, LiveRun* run) : engine_(std::move(engine)), run_(run) {
  run_->SetVersion("");
}

void CatalogFeed::Add(std::string_view bytes) {
  held_ += bytes;
  for (size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n')) {
    const Json managers = Json::parse(held_.substr(0, end), nullptr, /*allow_exceptions=*/false);
    held_.erase(0, end + 1);
    if (!managers.is_array()) {
      run_->CountMalformed(1);
      continue;
    }
    for (const Json& manager : managers) AddManager(manager);
  }
}

void CatalogFeed::AddManager(const Json& manager) {
  if (!manager.is_object()) return run_->CountMalformed(1);
  const std::string name =
      fmt::format("{} {} at {}:{}", engine_, Text(manager, "project"), Text(manager, "name"), Count(manager, "port"));
  const auto [entry, is_new] =
      managers_.try_emplace(fmt::format("{} {}", name, Count(manager, "time_when_started")), Told());
  Told& told = entry->second;
  if (is_new) run_->BeginSession(Count(manager, "time_when_started") * 1000);
  SchedulerFact scheduler;
  scheduler.address = name;
  const int64_t running = std::max(Count(manager, "tasks_running"), Count(manager, "tasks_on_workers"));
  scheduler.counts = {{"workers", Count(manager, "workers_connected")},     {"cores", Count(manager, "cores_total")},
                      {"tasks", Count(manager, "tasks_waiting") + running}, {"processing", running},
                      {"waiting", Count(manager, "tasks_waiting")},         {"erred", Count(manager, "tasks_failed")}};
  const int64_t age = run_->now_ns() / kSecond - Count(manager, "lastheardfrom");
  scheduler.is_there = age <= kLateSeconds;
  TellTasks(manager, !is_new, &told, &scheduler);
  if (!scheduler.is_there) scheduler.problem = fmt::format("it told the catalog nothing for {} s", age);
  run_->AddScheduler(scheduler);
  if (!scheduler.is_there && !told.is_stale) {
    run_->Note(EventKind::kWarning, fmt::format("{} told the catalog nothing for {} s", name, age));
  }
  told.is_stale = !scheduler.is_there;
  const int64_t lost = Count(manager, "workers_lost");
  if (lost > told.lost) {
    run_->Note(EventKind::kBad, fmt::format("{} lost {} worker{}{}", name, lost - told.lost,
                                            lost - told.lost == 1 ? "" : "s", is_new ? " before it was followed" : ""));
  }
  told.lost = lost;
}

void CatalogFeed::TellTasks(const Json& manager, bool is_known, Told* told, SchedulerFact* scheduler) {
  const auto categories = manager.find("categories");
  if (categories == manager.end() || !categories->is_array()) {
    scheduler->problem = "it does not tell its tasks by category";
    return;
  }
  for (const Json& category : *categories) {
    if (!category.is_object()) continue;
    const std::string name = Text(category, "category");
    if (name == kWholeQueue) continue;
    const int64_t done = Count(category, "tasks_done");
    int64_t& before = told->done[name];
    if (is_known && done > before) scheduler->finished.push_back({name, done - before, 0});
    before = done;
  }
  if (!is_known) scheduler->problem = "it is followed from now on";
}

}  // namespace crema
