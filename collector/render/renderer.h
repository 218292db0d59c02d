// Pictures of specifications, drawn by vl-convert (PyPI vl-convert-python) in a Python that has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace crema {

/// What to draw, and where to.
struct PictureJob {
  std::string spec_path;     ///< a Vega-Lite specification, JSON
  std::string picture_path;  ///< is written
  std::string format;        ///< `png` (2 pixels a unit), `svg` or `pdf`
};

/// The version that the charts were looked at with.
inline constexpr std::string_view kVlConvertVersion = "1.9.0.post1";

/// How a person gets pictures, for the end of a message.
std::string HowToGetPictures();

/// Draws all jobs in one process. `python` names the one to use; empty: CREMA_PLOT_PYTHON, else the first that has
/// vl-convert of: VIRTUAL_ENV, CONDA_PREFIX, the one beside this program, `.cache/plots` in the working directory or
/// above it (`tools/setup plots` makes it), python3 and python on the PATH. `work_directory` takes its own files.
/// Returns one status a job, in their order. Errors: NotFound where no Python has vl-convert.
absl::StatusOr<std::vector<absl::Status>> RenderPictures(const std::vector<PictureJob>& jobs, const std::string& python,
                                                         const std::string& work_directory);

/// `content`, marked as written by crema: a text chunk of a PNG (PNG specification, section 11.3.3), a comment in SVG
/// and PDF. A specification has its mark already (`usermeta`), and what is not a picture stays as it is.
std::string MarkedPicture(std::string content, std::string_view format);

/// Whether crema wrote a file, from its content.
bool IsMarkedPicture(std::string_view content);

/// Errors: something is there that is not a regular file, or that crema did not write (unless `force`).
absl::Status CheckMayReplacePicture(const std::string& path, bool force);

/// Writes under a temporary name in the same directory, which it makes, syncs and renames.
absl::Status WritePicture(const std::string& path, const std::string& content);

}  // namespace crema
