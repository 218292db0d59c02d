// Names of files, datasets and workers as a chart shows them. They come from records that anybody may have written.
#ifndef CREMA_COLLECTOR_CHARTS_SHOWN_NAMES_H_
#define CREMA_COLLECTOR_CHARTS_SHOWN_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace crema {

/// At most 60 code points of valid UTF-8, the end kept, where paths differ; control and direction signs become spaces.
/// An empty name is `(no name)`.
std::string ShownName(std::string_view name);

/// The shortest end of `path`, in whole parts of it, that none of `paths` but itself has: `part_1.root`, or
/// `ttbar/part_1.root` where other folders have a file of that name.
std::string_view ShortestUniqueEnd(std::string_view path, const std::vector<std::string_view>& paths);

/// The shown name, told apart: two names that look alike when cut get a number.
class ShownNames {
 public:
  const std::string& Of(std::string_view name);

 private:
  std::map<std::string, std::string, std::less<>> shown_;
  std::set<std::string> taken_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_SHOWN_NAMES_H_
