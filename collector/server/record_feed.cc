#include "collector/server/record_feed.h"

#include <utility>

namespace crema {

void RecordFeed::Add(std::string_view bytes) {
  if (is_left_out_) return;
  lines_.Add(
      bytes, [this](std::string_view line) { AddLine(line); }, [this] { model_->CountFault(false); });
}

void RecordFeed::AddLine(std::string_view line) {
  if (is_left_out_) return;
  switch (parser_->Parse(line)) {
    case ParseOutcome::kRecord:
      break;
    case ParseOutcome::kUnknownType:
      return model_->CountFault(true);
    case ParseOutcome::kOtherSchema:
      is_left_out_ = true;
      return model_->CountFault(false);
    case ParseOutcome::kTorn:
    case ParseOutcome::kMalformed:
      return model_->CountFault(false);
  }
  const Record& record = parser_->record();
  if (record.type == RecordType::kProcess) {
    const std::optional<LiveModel::WorkerId> before = worker_;
    worker_ = model_->AddProcess(record.process);
    // Logs put together: the process above is over, with or without an end.
    if (before.has_value() && before != worker_) model_->SetLife(*before, false);
    is_left_out_ = !worker_.has_value();
    if (!is_left_out_) recorder_ = &model_->RecorderOf(*worker_, record.process.recorder.value_or(0));
  } else if (worker_.has_value() && record.type == RecordType::kSums) {
    model_->AddSums(*worker_, recorder_->sums.Increment(record.sums));
  } else if (worker_.has_value()) {
    if (IsRepeated(record)) return;
    model_->Add(*worker_, record);
  } else {
    model_->CountFault(false);  // its process line could not be read: nobody knows whose it is
  }
}

bool RecordFeed::IsRepeated(const Record& record) {
  switch (record.type) {
    case RecordType::kBegin:
      return recorder_->ended.Contains(record.begin.number);
    case RecordType::kChunk:
      return !recorder_->ended.Insert(record.chunk.number);
    case RecordType::kEnd:
      return std::exchange(recorder_->has_end, true);
    default:
      return false;
  }
}

}  // namespace crema
