// InputFile: a file that is read at given offsets.
#ifndef CREMA_EXAMPLES_ZJETS_INPUT_FILE_H_
#define CREMA_EXAMPLES_ZJETS_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace zjets {

/// Open for reading until the end of the scope. Errors are std::runtime_error with the path and the reason.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// One pread(2): the bytes that were read, 0 at the end of the file.
  std::size_t Read(std::uint64_t offset, char* buffer, std::size_t size) const;

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_INPUT_FILE_H_
