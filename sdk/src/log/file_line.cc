#include "log/file_line.h"

#include <mutex>
#include <optional>

#include "log/json_line.h"
#include "process/process_recorder.h"

namespace crema {
namespace internal {

void WriteFileLine(Recorder* recorder, std::string_view file, const FileInfo& info) noexcept {
  if (file.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(recorder->mutex);
    if (recorder->files.Contains(file)) return;
    // Beyond what the set holds a file may be reported again, which readers accept.
    recorder->files.Add(file, &recorder->file_names);
  }
  const auto known = [](std::int64_t value) {
    return value < 0 ? std::optional<std::int64_t>() : std::optional<std::int64_t>(value);
  };
  JsonLine line;
  line.Raw("{\"type\":\"file\"");
  const std::size_t begin = line.size();
  line.FieldText("file", file);
  line.TakeSecretsOut(begin);
  line.Field("branches", known(info.branches));
  line.Field("bytes", known(info.bytes));
  line.Field("compressed_bytes", known(info.compressed_bytes));
  line.Raw("}\n");
  recorder->log.Write(line);
}

}  // namespace internal
}  // namespace crema
