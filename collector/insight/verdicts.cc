#include "collector/insight/verdicts.h"

#include "collector/insight/headline.h"

namespace crema {

std::vector<Verdict> Judge(const nlohmann::ordered_json&) { return {}; }

nlohmann::ordered_json VerdictRows(const std::vector<Verdict>&) { return nlohmann::ordered_json::array(); }

void AddInsight(nlohmann::ordered_json* document) {
  (*document)["headline"] = Headline(*document);
  (*document)["verdicts"] = VerdictRows(Judge(*document));
}

}  // namespace crema
