#include <gtest/gtest.h>

#include <string>

#include "collector/exports/export_format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Fault [shown]: names that a spreadsheet would run as formulas (`=`, `+`, `-`, `@`)
/// Shown: in CSV an apostrophe before them; numbers stay numbers
TEST(CsvField, AFormulaIsAText) {
  for (const char* text : {"=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx"}) {
    EXPECT_EQ(CsvField(Json(text)), "'" + std::string(text)) << text;
  }
  EXPECT_EQ(CsvField(Json("=a,b")), "\"'=a,b\"");
}

TEST(CsvField, ANumberStaysANumber) {
  EXPECT_EQ(CsvField(Json(-1.5)), "-1.5");
  EXPECT_EQ(CsvField(Json(-3)), "-3");
  EXPECT_EQ(CsvField(Json("-2.5e-3")), "-2.5e-3");
  EXPECT_EQ(CsvField(Json("a=b")), "a=b");
}

}  // namespace
}  // namespace crema
