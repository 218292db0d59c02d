#include "collector/render/renderer.h"

#include <spawn.h>
#include <sys/wait.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>

#include "collector/files/output_directory.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/text.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr int kHasNoRenderer = 42;  // as render.py says

constexpr char kScript[] =
#include "collector/render/render_script.inc"
    ;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsProgram(const fs::path& path) { return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

/// Whether there is one.
bool AddPythonIn(const fs::path& folder, std::vector<std::string>* candidates) {
  const fs::path python = folder / "bin/python";
  const bool is_there = !folder.empty() && IsProgram(python);
  if (is_there) candidates->push_back(python.string());
  return is_there;
}

/// In a wheel the program is in lib/pythonX/site-packages/crema_hep/bin of an environment.
void AddPythonBesideProgram(std::vector<std::string>* candidates) {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int level = 0; level < 6 && !error && folder.has_relative_path(); ++level) {
    AddPythonIn(folder, candidates);
    folder = folder.parent_path();
  }
}

void AddPythonOfCheckout(std::vector<std::string>* candidates) {
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !error; folder = folder.parent_path()) {
    if (AddPythonIn(folder / ".cache/plots", candidates) || !folder.has_relative_path()) return;
  }
}

std::vector<std::string> PythonsToTry(const std::string& named) {
  if (!named.empty()) return {named};
  if (const std::string chosen = Environment("CREMA_PLOT_PYTHON"); !chosen.empty()) return {chosen};
  std::vector<std::string> candidates;
  AddPythonIn(Environment("VIRTUAL_ENV"), &candidates);
  AddPythonIn(Environment("CONDA_PREFIX"), &candidates);
  AddPythonBesideProgram(&candidates);
  AddPythonOfCheckout(&candidates);
  candidates.insert(candidates.end(), {"python3", "python"});
  return candidates;
}

/// Empty if it cannot be read.
std::string TextOf(const fs::path& path) { return ReadText(path).value_or(""); }

/// Exit status of a command with its output in files; 127 where it was not found, 128 + signal where one killed it.
int Run(std::vector<std::string> command, const fs::path& output, const fs::path& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), kCreate, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kCreate, 0600);
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// One status for each line; a renderer that died leaves the rest to its end.
std::vector<absl::Status> StatusesOf(const std::string& lines, size_t jobs, const std::string& end) {
  std::vector<absl::Status> statuses;
  size_t at = 0;
  while (statuses.size() < jobs) {
    const size_t line_end = lines.find('\n', at);
    if (line_end == std::string::npos) {
      statuses.push_back(absl::InternalError(end));
      continue;
    }
    const std::string line = lines.substr(at, line_end - at);
    statuses.push_back(line.empty() ? absl::OkStatus() : absl::InternalError("the renderer says: " + line));
    at = line_end + 1;
  }
  return statuses;
}

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

constexpr std::string_view kPngSignature("\x89PNG\r\n\x1a\n", 8);
constexpr size_t kPngHeader = 8 + 25;  // signature and IHDR chunk
constexpr std::string_view kPngText("tEXtSoftware\0crema plot", 23);
constexpr std::string_view kSvgMark = "<!-- crema plot -->";
constexpr std::string_view kPdfMark = "\n% crema plot\n";
constexpr std::string_view kSpecMark = "\"usermeta\":{\"crema\":";

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

/// A chunk's length counts its data without the four letters of its type.
std::string PngTextChunk() {
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(kPngText.data()), kPngText.size());
  return BigEndian(static_cast<uint32_t>(kPngText.size() - 4)) + std::string(kPngText) +
         BigEndian(static_cast<uint32_t>(crc));
}

}  // namespace

std::string HowToGetPictures() {
  return fmt::format(
      "for pictures: pip install vl-convert-python=={} (any Python; --python or CREMA_PLOT_PYTHON names it)",
      kVlConvertVersion);
}

absl::StatusOr<std::vector<absl::Status>> RenderPictures(const std::vector<PictureJob>& jobs, const std::string& python,
                                                         const std::string& work_directory) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PictureJob& job : jobs) {
    list.push_back({{"spec", job.spec_path}, {"picture", job.picture_path}, {"format", job.format}});
  }
  const fs::path folder(work_directory);
  std::ofstream(folder / "jobs.json") << list.dump();
  std::string tried;
  for (const std::string& candidate : PythonsToTry(python)) {
    // the program's own recording does not concern the renderer
    const int status =
        Run({candidate, "-c", kScript, (folder / "jobs.json").string()}, folder / "output", folder / "errors");
    if (status == 127 || status == kHasNoRenderer) {
      tried += (tried.empty() ? "" : ", ") + candidate;
      continue;
    }
    const std::string last = LastLine(TextOf(folder / "errors"));
    return StatusesOf(
        TextOf(folder / "output"), jobs.size(),
        fmt::format("the renderer in {} ended with status {}{}", candidate, status, last.empty() ? "" : ": " + last));
  }
  return absl::NotFoundError(fmt::format("no Python with vl-convert (tried {})", tried));
}

std::string MarkedPicture(std::string content, std::string_view format) {
  if (format == "png" && content.size() > kPngHeader && content.compare(0, 8, kPngSignature) == 0) {
    content.insert(kPngHeader, PngTextChunk());
  }
  if (format == "svg") content += kSvgMark;
  if (format == "pdf") content += kPdfMark;
  return content;
}

bool IsMarkedPicture(std::string_view content) {
  if (content.substr(0, 8) == kPngSignature) return content.substr(0, 256).find(kPngText) != std::string_view::npos;
  return EndsWith(content, kSvgMark) || EndsWith(content, kPdfMark) ||
         content.substr(0, 256).find(kSpecMark) != std::string_view::npos;
}

absl::Status CheckMayReplacePicture(const std::string& path, bool force) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return absl::OkStatus();
  if (!fs::is_regular_file(status)) {
    return absl::FailedPreconditionError(path + ": exists and is not a regular file; choose another path");
  }
  if (force || fs::is_empty(path, error) || IsMarkedPicture(TextOf(path))) return absl::OkStatus();
  return absl::AlreadyExistsError(path +
                                  ": exists and was not written by `crema plot`; choose another path, or add --force");
}

absl::Status WritePicture(const std::string& path, const std::string& content) {
  const fs::path target = fs::absolute(path).lexically_normal();
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) return Failed(target.parent_path(), error.value());
  absl::StatusOr<TemporaryFile> temporary = TemporaryFile::Make(target, 0666);
  if (!temporary.ok()) return temporary.status();
  absl::Status status = WriteSynced(temporary->path(), O_WRONLY | O_NOFOLLOW, content);
  return status.ok() ? temporary->Rename() : status;
}

}  // namespace crema
