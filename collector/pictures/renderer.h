// Pictures of specifications, drawn by vl-convert (PyPI vl-convert-python) in a Python that has it.
#ifndef CREMA_COLLECTOR_PICTURES_RENDERER_H_
#define CREMA_COLLECTOR_PICTURES_RENDERER_H_

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

}  // namespace crema

#endif  // CREMA_COLLECTOR_PICTURES_RENDERER_H_
