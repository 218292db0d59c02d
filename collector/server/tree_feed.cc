#include "collector/server/tree_feed.h"

#include "collector/records/loose_json.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

int64_t Integer(const Json& line, std::string_view key) {
  const Json& field = Field(line, key);
  return field.is_number() ? field.get<int64_t>() : 0;
}

}  // namespace

void TreeFeed::Add(std::string_view bytes) {
  lines_.Add(
      bytes, [this](std::string_view line) { AddLine(line); }, [this] { model_->CountFault(false); });
}

void TreeFeed::SetLife(bool running) {
  if (!command_.known || command_.running == running) return;
  command_.running = running;
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
    if (const Json& limit = Field(line, "memory_limit_bytes"); limit.is_number()) {
      command_.memory_limit_bytes = limit.get<int64_t>();
    }
    host_ = TextField(line, "host");
    model_->SetCommand(command_);
  } else if (type == "tree_sample") {
    for (const Json& row : ListField(line, "process_rows")) {
      model_->AddMemory(host_, Integer(row, "pid"), Integer(line, "time_ns"), Integer(row, "rss_bytes"));
    }
  } else if (type == "run_end") {
    command_.running = false;
    command_.stop_ns = Integer(line, "time_ns");
    if (const Json& status = Field(line, "exit_status"); status.is_number()) {
      command_.exit_status = status.get<int64_t>();
    }
    model_->SetCommand(command_);
  }
}

}  // namespace crema
