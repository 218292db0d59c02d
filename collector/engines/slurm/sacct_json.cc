// `sacct --json`: the forms of the data parsers of Slurm 21.08 to 25.05, which differ in where a number stands.
#include <fmt/format.h>

#include <cmath>

#include "collector/engines/slurm/sacct_table.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::json;

/// `/time/start` and so on; null where it is not there.
const Json& At(const Json& value, const char* path) {
  static const Json kNull;
  const Json::json_pointer pointer(path);
  return value.contains(pointer) ? value[pointer] : kNull;
}

/// A number, or `{"set": true, "number": 3}`; empty: it is not set.
std::string Number(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  if (At(value, "/set") != true) return "";
  return At(value, "/number").is_number() ? fmt::format("{:.0f}", value["number"].get<double>()) : "";
}

std::string Text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_array() && !value.empty() && value[0].is_string() ? value[0].get<std::string>() : Number(value);
}

std::string Time(const Json& value) {
  const std::string seconds = Number(value);
  return seconds.empty() || seconds == "0" ? "Unknown" : seconds;
}

std::string Exit(const Json& value) {
  const std::string code = Number(At(value, "/return_code"));
  std::string signal = Number(At(value, "/signal/id"));
  if (signal.empty()) signal = Number(At(value, "/signal/signal_id"));
  return fmt::format("{}:{}", code.empty() ? "0" : code, signal.empty() ? "0" : signal);
}

/// Seconds and microseconds as `0:0:1.000250`.
std::string Duration(const Json& value) {
  const Json &seconds = At(value, "/seconds"), &microseconds = At(value, "/microseconds");
  if (!seconds.is_number_integer()) return "";
  return fmt::format("00:00:{}.{:06}", seconds.get<int64_t>(),
                     microseconds.is_number_integer() ? microseconds.get<int64_t>() : 0);
}

/// The count of one resource in a list of them; empty: it is not there.
std::string Resource(const Json& list, const char* type) {
  if (!list.is_array()) return "";
  for (const Json& entry : list) {
    if (At(entry, "/type") == type && At(entry, "/count").is_number()) {
      return fmt::format("{:.0f}", At(entry, "/count").get<double>());
    }
  }
  return "";
}

std::string WithUnit(const std::string& number, const char* unit) { return number.empty() ? number : number + unit; }

}  // namespace

absl::StatusOr<std::vector<SacctCells>> ReadSacctJson(const std::string& text, SacctHeader* header) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !At(document, "/jobs").is_array()) {
    return absl::InvalidArgumentError("it is not whole JSON of `sacct --json`");
  }
  for (const Json& job : document["jobs"]) {
    if (At(job, "/time").is_object()) continue;
    return absl::InvalidArgumentError(
        "a job has no `time`, as in what squeue and scontrol write: give crema the output of `sacct --json`");
  }
  *header =
      SacctHeader(SacctCells{"JobID",  "JobIDRaw", "JobName", "Cluster",        "State",    "ExitCode",   "Submit",
                             "Start",  "End",      "Elapsed", "Timelimit",      "NodeList", "AllocNodes", "AllocCPUS",
                             "NTasks", "ReqMem",   "MaxRSS",  "TRESUsageInTot", "TotalCPU", "Reason"});
  std::vector<SacctCells> rows;
  for (const Json& job : document["jobs"]) {
    const std::string raw = Number(At(job, "/job_id"));
    std::string id = raw;
    const std::string array = Number(At(job, "/array/job_id")), place = Number(At(job, "/array/task_id"));
    const std::string waiting = Text(At(job, "/array/task"));
    const std::string het = Number(At(job, "/het/job_id")), part = Number(At(job, "/het/job_offset"));
    if (!array.empty() && array != "0") {
      id = !place.empty()    ? fmt::format("{}_{}", array, place)
           : waiting.empty() ? raw
                             : fmt::format("{}_[{}]", array, waiting);
    }
    if (!het.empty() && het != "0" && !part.empty()) id = fmt::format("{}+{}", het, part);
    std::string state = Text(At(job, "/state/current"));
    const std::string killer = Text(At(job, "/kill_request_user"));
    if (state == "CANCELLED" && !killer.empty()) state += " by " + killer;
    const std::string minutes = Number(At(job, "/time/limit"));
    const std::string asked = Resource(At(job, "/tres/allocated"), "mem");
    const std::string cpus = Resource(At(job, "/tres/allocated"), "cpu");
    const std::string elapsed = Number(At(job, "/time/elapsed"));
    const auto clock = [](const std::string& seconds) { return seconds.empty() ? seconds : "00:00:" + seconds; };
    rows.push_back({id,
                    raw,
                    Text(At(job, "/name")),
                    Text(At(job, "/cluster")),
                    state,
                    Exit(At(job, "/exit_code")),
                    Time(At(job, "/time/submission")),
                    Time(At(job, "/time/start")),
                    Time(At(job, "/time/end")),
                    clock(elapsed),
                    minutes.empty() ? minutes : "00:" + minutes + ":00",
                    Text(At(job, "/nodes")),
                    Number(At(job, "/allocation_nodes")),
                    cpus.empty() ? Number(At(job, "/required/CPUs")) : cpus,
                    "",
                    WithUnit(asked, "M"),
                    "",
                    "",
                    Duration(At(job, "/time/total")),
                    Text(At(job, "/state/reason"))});
    const Json& steps = At(job, "/steps");
    for (const Json& step : steps.is_array() ? steps : Json::array()) {
      std::string name = Text(At(step, "/step/id"));
      if (name.empty()) name = Text(At(step, "/step/id/step_id"));
      if (const size_t dot = name.find('.'); dot != name.npos) name = name.substr(dot + 1);
      if (name.empty()) continue;
      const std::string peak = Resource(At(step, "/tres/requested/max"), "mem");
      const std::string sum = Resource(At(step, "/tres/requested/total"), "mem");
      rows.push_back({id + "." + name,
                      raw + "." + name,
                      Text(At(step, "/step/name")),
                      Text(At(job, "/cluster")),
                      Text(At(step, "/state")),
                      Exit(At(step, "/exit_code")),
                      "",
                      Time(At(step, "/time/start")),
                      Time(At(step, "/time/end")),
                      clock(Number(At(step, "/time/elapsed"))),
                      "",
                      Text(At(step, "/nodes/range")),
                      Number(At(step, "/nodes/count")),
                      Resource(At(step, "/tres/allocated"), "cpu"),
                      Number(At(step, "/tasks/count")),
                      "",
                      peak,
                      sum.empty() ? "" : "mem=" + sum,
                      Duration(At(step, "/time/total")),
                      ""});
    }
  }
  return rows;
}

}  // namespace crema
