#include "collector/server/record_feed.h"

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
    worker_ = model_->AddProcess(record.process);
    sums_ = SumsSoFar();
    is_left_out_ = !worker_.has_value();
  } else if (worker_.has_value() && record.type == RecordType::kSums) {
    model_->AddSums(*worker_, sums_.Increment(record.sums));
  } else if (worker_.has_value()) {
    model_->Add(*worker_, record);
  } else {
    model_->CountFault(false);  // its process line could not be read: nobody knows whose it is
  }
}

}  // namespace crema
