#include "collector/sources/process_tree/tree_log_lines.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/sources/process_tree/tree_log_format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Writes a flat object without building one first: samples are written while the job runs.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string* out) : out_(out) { out_->push_back('{'); }

  void Add(std::string_view name, int64_t value) {
    Name(name);
    char digits[24];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    out_->append(digits, end);
  }
  void Add(std::string_view name, const std::optional<int64_t>& value) {
    if (value.has_value()) return Add(name, *value);
    Name(name);
    out_->append("null");
  }
  /// `word` needs no escapes.
  void Add(std::string_view name, std::string_view word) {
    Name(name);
    out_->append("\"").append(word).append("\"");
  }
  void AddText(std::string_view name, const std::string& text) {
    Name(name);
    out_->append(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  void Name(std::string_view name) {
    if (out_->back() != '{') out_->push_back(',');
    out_->append("\"").append(name).append("\":");
  }
  void End() { out_->push_back('}'); }

 private:
  std::string* out_;
};

template <class Value>
std::optional<int64_t> Field(const std::optional<Value>& from, int64_t Value::*field) {
  if (!from.has_value()) return std::nullopt;
  return (*from).*field;
}

void AddNet(const std::optional<TreeNet>& net, ObjectWriter* line) {
  line->Add("net_rx_bytes", Field(net, &TreeNet::rx_bytes));
  line->Add("net_tx_bytes", Field(net, &TreeNet::tx_bytes));
}

void AddGpus(const std::vector<TreeGpu>& gpus, std::string* out, ObjectWriter* line) {
  if (gpus.empty()) return;
  line->Name("gpus");
  out->push_back('[');
  for (const TreeGpu& gpu : gpus) {
    if (out->back() != '[') out->push_back(',');
    ObjectWriter row(out);
    row.Add("index", gpu.index);
    row.AddText("name", gpu.name);
    for (const auto& [key, member] : kTreeGpuFields) row.Add(key, gpu.*member);
    row.End();
  }
  out->push_back(']');
}

}  // namespace

void AppendLine(const TreeRunFact& run, std::string* out) {
  nlohmann::ordered_json line = {
      {"type", "run"},
      {"schema", std::string(kTreeLogSchema)},
      {"schema_minor", kTreeLogSchemaMinor},
      {"run_id", run.run_id},
      {"name", run.name},
      {"command", nullptr},
      {"host", run.host},
      {"pid", run.pid},
      {"start_ns", run.start_ns},
      {"interval_seconds", run.interval_seconds},
      {"allocated_cores", nullptr},
      {"allocated_cores_source", run.allocated_cores_source},
      {"memory_limit_bytes", nullptr},
      {"net_host_wide", run.net_host_wide},
      {"watched", run.origin == TreeOrigin::kWatched},
      {"commit", nullptr},
      {"commit_source", nullptr},
  };
  if (!run.command.empty()) line["command"] = run.command;
  if (run.allocated_cores.has_value()) line["allocated_cores"] = *run.allocated_cores;
  if (run.memory_limit_bytes.has_value()) line["memory_limit_bytes"] = *run.memory_limit_bytes;
  if (!run.commit.empty()) {
    line["commit"] = run.commit;
    line["commit_source"] = run.commit_source;
  }
  out->append(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)).push_back('\n');
}

void AppendLine(const TreeSampleFact& sample, bool with_rows, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "tree_sample");
  line.Add("time_ns", sample.time_ns);
  line.Add("rss_bytes", sample.rss_bytes);
  line.Add("pss_bytes", sample.pss_bytes);
  line.Add("swap_bytes", sample.swap_bytes);
  line.Add("cpu_user_ns", sample.cpu_user_ns);
  line.Add("cpu_system_ns", sample.cpu_system_ns);
  line.Add("processes", sample.processes);
  line.Add("threads", sample.threads);
  line.Add("read_bytes", Field(sample.io, &TreeIo::read_bytes));
  line.Add("write_bytes", Field(sample.io, &TreeIo::write_bytes));
  line.Add("rchar_bytes", Field(sample.io, &TreeIo::rchar_bytes));
  line.Add("wchar_bytes", Field(sample.io, &TreeIo::wchar_bytes));
  AddNet(sample.net, &line);
  AddGpus(sample.gpus, out, &line);
  if (with_rows) {
    line.Name("process_rows");
    out->push_back('[');
    for (const TreeProcessFact& process : sample.process_rows) {
      if (out->back() != '[') out->push_back(',');
      ObjectWriter row(out);
      row.Add("pid", process.pid);
      row.Add("start_ns", process.start_ns);
      row.Add("rss_bytes", process.rss_bytes);
      row.Add("cpu_ns", process.cpu_ns);
      row.Add("threads", process.threads);
      if (!process.name.empty()) row.AddText("name", process.name);
      for (const auto& [key, member] : kProcessCounts) {
        if ((process.counts.*member).has_value()) row.Add(key, process.counts.*member);
      }
      row.End();
    }
    out->push_back(']');
  }
  line.End();
  out->push_back('\n');
}

void AppendLine(const TreeReapFact& reaped, std::string* out) {
  ObjectWriter line(out);
  line.Add("type", "reaped");
  line.Add("time_ns", reaped.time_ns);
  line.Add("pid", reaped.pid);
  line.Add("user_ns", reaped.user_ns);
  line.Add("system_ns", reaped.system_ns);
  line.Add("max_rss_bytes", reaped.max_rss_bytes);
  line.Add("major_faults", reaped.major_faults);
  line.Add("context_switches_involuntary", reaped.context_switches_involuntary);
  line.Add("exit_status", reaped.exit_status);
  line.End();
  out->push_back('\n');
}

void AppendLine(const TreeEndFact& end, std::string* out) {
  const TreeTotals& totals = end.totals;
  ObjectWriter line(out);
  line.Add("type", "run_end");
  line.Add("time_ns", end.time_ns);
  line.Add("exit_status", end.exit_status.has_value() ? std::optional<int64_t>(*end.exit_status) : std::nullopt);
  line.Add("tree_cpu_user_ns", totals.cpu_user_ns);
  line.Add("tree_cpu_system_ns", totals.cpu_system_ns);
  line.Add("process_peak_rss_bytes", totals.process_peak_rss_bytes);
  line.Add("tree_peak_rss_bytes", totals.tree_peak_rss_bytes);
  line.Add("tree_peak_pss_bytes", totals.tree_peak_pss_bytes);
  line.Add("tree_peak_swap_bytes", totals.tree_peak_swap_bytes);
  line.Add("tree_read_bytes", Field(totals.io, &TreeIo::read_bytes));
  line.Add("tree_write_bytes", Field(totals.io, &TreeIo::write_bytes));
  line.Add("tree_rchar_bytes", Field(totals.io, &TreeIo::rchar_bytes));
  line.Add("tree_wchar_bytes", Field(totals.io, &TreeIo::wchar_bytes));
  line.Add("max_processes", totals.max_processes);
  line.Add("max_threads", totals.max_threads);
  line.Add("major_faults", totals.major_faults);
  line.Add("context_switches_involuntary", totals.context_switches_involuntary);
  AddNet(totals.net, &line);
  line.Add("tree_cpu_sampled", totals.tree_cpu_sampled);
  line.Add("processes_left_running", totals.processes_left_running);
  line.Add("oom_kills", totals.oom_kills);
  AddGpus(end.gpus, out, &line);
  line.Add("samples", end.samples);
  line.Add("sampler_cpu_ns", end.sampler_cpu_ns);
  line.Add("sampler_peak_rss_bytes", end.sampler_peak_rss_bytes);
  line.End();
  out->push_back('\n');
}

}  // namespace crema
