// Reading small kernel files (below /proc and /sys) cheaply, with a root in front so that tests can bring their own.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_FILE_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_FILE_H_

#include <array>
#include <string>
#include <string_view>

namespace crema {

/// Room for the longest file read here; `status` and `stat` are under 2 KiB.
using ProcBuffer = std::array<char, 16384>;

/// The file's text, in `buffer`; empty when it cannot be read or is empty. Longer files are cut.
std::string_view ReadProcFile(const char* path, ProcBuffer* buffer);

/// A kernel file read again and again through one descriptor. Once its process has ended, reading gives nothing, even
/// when another process has the pid by then.
class KeptProcFile {
 public:
  KeptProcFile() = default;
  KeptProcFile(KeptProcFile&& other) noexcept;
  KeptProcFile& operator=(KeptProcFile&& other) noexcept;
  ~KeptProcFile();

  /// Opens on the first call where `keep` allows to hold a descriptor; else opens, reads and closes.
  std::string_view Read(const char* path, bool keep, ProcBuffer* buffer);

 private:
  int descriptor_ = -1;
};

/// The whole of a file that is read once, of whatever length; empty when it cannot be read.
std::string ReadWholeFile(const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_FILE_H_
