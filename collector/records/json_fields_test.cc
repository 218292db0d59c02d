#include "collector/records/json_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

TEST(ParsedJson, IsWhatTheLibraryReads) {
  for (const std::string text :
       {R"({"b": [1, -2, 18446744073709551615, 0.69998253701971803956, 1e300, null, true, "\u00e9\n"], "a": {"": {}}})",
        "[]", " {} ", "7", "\"text\"", "\xEF\xBB\xBF{}", "[[[]]]", "1e400", "{\"a\": 1", "{} {}", "", "\"\xff\"",
        "{\"a\" 1}", "[100000000000000000000]"}) {
    const Json parsed = ParsedJson(text), expected = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    EXPECT_EQ(parsed.is_discarded(), expected.is_discarded()) << text;
    EXPECT_EQ(parsed.dump(), expected.dump()) << text;
  }
}

// With a look at all keys for each, a document of 16,000 workers takes seconds.
TEST(ParsedJson, LooksForNoKeyAmongThoseBeforeIt) {
  EXPECT_EQ(ParsedJson(R"({"worker": 1, "other": 2, "worker": 3})").size(), 3);
}

}  // namespace
}  // namespace crema
