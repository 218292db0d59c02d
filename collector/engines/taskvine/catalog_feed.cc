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
constexpr int64_t kMostCount = int64_t{1} << 52;
constexpr int64_t kMostMicroseconds = int64_t{1} << 52;  // some 140 years
constexpr size_t kMostManagers = 1000;
constexpr const char* kWholeQueue = "whole queue";

int64_t Count(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return 0;
  return std::clamp<int64_t>(found->get<int64_t>(), 0, kMostCount);
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

void CatalogFeed::Tick() {
  for (auto& [id, told] : managers_) {
    const bool is_late = run_->now_ns() / kSecond - told.heard_s > kLateSeconds;
    if (is_late != told.is_late) Tell(&told);
  }
}

void CatalogFeed::Tell(Told* told) {
  SchedulerFact& scheduler = told->scheduler;
  const int64_t age = run_->now_ns() / kSecond - told->heard_s;
  const bool is_late = age > kLateSeconds;
  scheduler.is_there = !is_late;
  scheduler.problem = is_late ? fmt::format("it told the catalog nothing for {} s", age)
                              : std::string("a catalog hears of them once a minute");
  run_->AddScheduler(scheduler);
  scheduler.finished.clear();
  if (is_late && !told->is_late) {
    run_->Note(EventKind::kWarning, fmt::format("{} told the catalog nothing for {} s", scheduler.address, age));
  }
  told->is_late = is_late;
}

void CatalogFeed::AddManager(const Json& manager) {
  if (!manager.is_object()) return run_->CountMalformed(1);
  const std::string name =
      fmt::format("{} {} at {}:{}", engine_, Text(manager, "project"), Text(manager, "name"), Count(manager, "port"));
  const int64_t started_us = Count(manager, "time_when_started");
  const std::string id = fmt::format("{} {}", name, started_us);
  if (managers_.size() >= kMostManagers && managers_.count(id) == 0) return;
  const auto [entry, is_new] = managers_.try_emplace(id, Told());
  Told& told = entry->second;
  if (started_us > 0 && started_us < kMostMicroseconds && !std::exchange(has_begun_, true)) {
    run_->BeginSession(started_us * 1000);
  }
  SchedulerFact& scheduler = told.scheduler;
  scheduler.address = name;
  const int64_t running = std::max(Count(manager, "tasks_running"), Count(manager, "tasks_on_workers"));
  const int64_t waiting = Count(manager, "tasks_waiting");
  scheduler.counts = {{"workers", Count(manager, "workers_connected")},
                      {"cores", Count(manager, "cores_total")},
                      {"tasks", waiting + running},
                      {"processing", running},
                      {"waiting", waiting},
                      {"erred", Count(manager, "tasks_failed")}};
  told.heard_s = Count(manager, "lastheardfrom");
  TellTasks(manager, !is_new, &told, &scheduler);
  Tell(&told);
  const int64_t lost = Count(manager, "workers_lost");
  if (lost > told.lost) {
    run_->Note(EventKind::kBad, fmt::format("{} lost {} worker{}{}", name, lost - told.lost,
                                            lost - told.lost == 1 ? "" : "s", is_new ? " before it was followed" : ""));
  }
  told.lost = lost;
}

void CatalogFeed::TellTasks(const Json& manager, bool is_known, Told* told, SchedulerFact* scheduler) {
  const auto categories = manager.find("categories");
  if (categories == manager.end() || !categories->is_array()) return;
  for (const Json& category : *categories) {
    if (!category.is_object()) continue;
    const std::string name = Text(category, "category");
    if (name == kWholeQueue) continue;
    const int64_t done = Count(category, "tasks_done");
    int64_t& before = told->done[name];
    if (is_known && done > before) scheduler->finished.push_back({name, done - before, 0});
    before = done;
  }
}

}  // namespace crema
