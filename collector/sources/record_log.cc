#include "collector/sources/record_log.h"

#include <utility>

#include "collector/sources/record_log_parts.h"

namespace crema {

void LogReading::Warn(std::string warning) {
  if (warnings.size() < kMaxWarnings) {
    warnings.push_back(std::move(warning));
  } else {
    ++more_warnings;
  }
}

void LogReading::Stop(std::string why) {
  if (stops.size() < kMaxWarnings) {
    stops.push_back(std::move(why));
  } else {
    ++more_stops;
  }
}

void LogReading::Add(const LogReading& other) {
  records_read += other.records_read;
  records_malformed += other.records_malformed;
  records_torn += other.records_torn;
  records_unknown += other.records_unknown;
  logs_damaged += other.logs_damaged;
  for (const std::string& warning : other.warnings) Warn(warning);
  more_warnings += other.more_warnings;
  for (const std::string& stop : other.stops) Stop(stop);
  more_stops += other.more_stops;
}

LogReading ReadRecordLog(const RecordLog& log, bool running, const std::function<void(const Record&)>& on_record) {
  return JoinParts(log, {ReadLogPart(log, LogPart{}, running, on_record)});
}

}  // namespace crema
