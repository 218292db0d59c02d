#include "collector/server/tree_feed.h"

#include <optional>
#include <utility>
#include <vector>

#include "collector/records/loose_json.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::optional<int64_t> MaybeInteger(const Json& line, std::string_view key) {
  const Json& field = Field(line, key);
  return field.is_number() ? std::optional<int64_t>(field.get<int64_t>()) : std::nullopt;
}
int64_t Integer(const Json& line, std::string_view key) { return MaybeInteger(line, key).value_or(0); }

}  // namespace

void TreeFeed::Add(std::string_view bytes) {
  lines_.Add(
      bytes, [this](std::string_view line) { AddLine(line); }, [this] { model_->CountFault(false); });
}

void TreeFeed::SetLife(bool running) {
  if (!command_.known || command_.running == running) return;
  command_.running = running;
  if (!running) model_->SetGpus(host_, {});
  model_->SetCommand(command_);
}

void TreeFeed::AddLine(std::string_view text) {
  const Json line = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (line.is_discarded() || !line.is_object()) return model_->CountFault(false);
  const std::string type = TextField(line, "type");
  if (type == "run") {
    command_.known = command_.running = true;
    command_.name = TextField(line, "name");
    for (const Json& word : ListField(line, "command")) {
      if (word.is_string()) command_.command += (command_.command.empty() ? "" : " ") + word.get<std::string>();
    }
    command_.start_ns = Integer(line, "start_ns");
    command_.memory_limit_bytes = MaybeInteger(line, "memory_limit_bytes");
    host_ = TextField(line, "host");
    model_->SetCommand(command_);
  } else if (type == "tree_sample") {
    for (const Json& row : ListField(line, "process_rows")) {
      model_->AddMemory(host_, Integer(row, "pid"), Integer(line, "time_ns"), Integer(row, "rss_bytes"));
    }
    std::vector<TreeGpu> gpus;
    for (const Json& row : ListField(line, "gpus")) {
      TreeGpu& gpu = gpus.emplace_back();
      gpu.utilization_percent = MaybeInteger(row, "utilization_percent");
      gpu.tree_memory_bytes = MaybeInteger(row, "tree_memory_bytes");
      gpu.power_mw = MaybeInteger(row, "power_mw");
    }
    model_->SetGpus(host_, std::move(gpus));
  } else if (type == "run_end") {
    command_.running = false;
    model_->SetGpus(host_, {});
    command_.stop_ns = Integer(line, "time_ns");
    command_.exit_status = MaybeInteger(line, "exit_status");
    model_->SetCommand(command_);
  }
}

}  // namespace crema
