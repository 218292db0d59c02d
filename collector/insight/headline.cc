#include "collector/insight/headline.h"

namespace crema {

std::string Headline(const nlohmann::ordered_json&) { return "Too little was measured to judge."; }

}  // namespace crema
