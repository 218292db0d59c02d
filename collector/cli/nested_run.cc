#include "collector/cli/nested_run.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace crema {

void NotePointerInOuterRun(const TreeRunFact& run, const RunDirectory& directory) {
  const char* outer = secure_getenv("CREMA_DIR");
  if (outer == nullptr || *outer == '\0') return;
  const nlohmann::ordered_json pointer = {
      {"schema", "crema.nested/1"},
      {"run_id", run.run_id},
      {"name", run.name},
      {"command", run.command.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(run.command)},
      {"host", run.host},
      {"pid", run.pid},
      {"start_ns", run.start_ns},
      {"directory", std::filesystem::path(directory.records()).parent_path().string()},
  };
  const std::string text = pointer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const std::string path = absl::StrCat(outer, "/", run.host, "-", run.pid, ".nested.json");
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  [[maybe_unused]] const ssize_t written = write(descriptor, text.data(), text.size());
  close(descriptor);
}

}  // namespace crema
