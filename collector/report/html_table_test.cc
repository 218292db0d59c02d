#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "collector/report/html.h"

namespace crema {
namespace {

CellTable Files() {
  CellTable files;
  files.columns = {{"name", "file", Kind::kPath, 1},
                   {"chunks", "chunks", Kind::kCount, 1},
                   {"bytes_read", "read", Kind::kData, 2},
                   {"detail", "detail", Kind::kCount, 9}};
  files.rows = {{"d/a.root", Number(2), {}, Number(1)}, {"d/b.root", Number(30), {}, {}}, {"d/<c>.root", {}, {}, {}}};
  return files;
}

TEST(Render, ACellIsSortedByItsNumberNotByItsText) {
  HtmlTable table;
  table.caption = "a < b";
  table.columns = {{"time"}};
  table.rows = {{{"2 m", 120.0}}, {{"–"}}};
  const std::string html = Render(table);
  EXPECT_TRUE(absl::StrContains(html, "<td class=\"n\" data-sort=\"120\">2 m</td>")) << html;
  EXPECT_TRUE(absl::StrContains(html, "<td class=\"n\">–</td>")) << html;
  EXPECT_TRUE(absl::StrContains(html, "<caption>a &lt; b</caption>")) << html;
}

TEST(Render, SaysWhatIsLeftOutAndWhereItStands) {
  HtmlTable table;
  table.columns = {{"file", false}};
  table.left_out = 12345;
  EXPECT_TRUE(absl::StrContains(Render(table), "more in measurement.json.</p>"));
  table.left_out = 0;
  EXPECT_FALSE(absl::StrContains(Render(table), "more in"));
}

TEST(DocumentHtmlTable, RowsComeLargestFirstAndKeepTheirPlaceInTheDocumentAsKey) {
  const std::string html = DocumentHtmlTable(Files(), {"files", "Files", "chunks"});
  const size_t large = html.find("data-key=\"files[1].chunks\" value=\"30\"");
  const size_t small = html.find("data-key=\"files[0].chunks\" value=\"2\"");
  ASSERT_NE(large, std::string::npos) << html;
  ASSERT_NE(small, std::string::npos) << html;
  EXPECT_LT(large, small);
  EXPECT_LT(small, html.find("&lt;c&gt;.root"));  // what was not measured is last
  EXPECT_TRUE(absl::StrContains(html, "aria-sort=\"descending\">chunks</th>")) << html;
}

TEST(DocumentHtmlTable, ColumnsThatNoRowHasAreNamedUnderIt) {
  const std::string html = DocumentHtmlTable(Files(), {"files", "Files"});
  EXPECT_FALSE(absl::StrContains(html, ">read</th>")) << html;
  EXPECT_TRUE(absl::StrContains(html, "Not measured: read.")) << html;
  EXPECT_FALSE(absl::StrContains(html, ">detail</th>")) << html;  // of a higher rank than the page shows
}

TEST(DocumentHtmlTable, EndsAfterTheMostRowsAndCountsTheOthers) {
  DocumentTableOptions options = {"files", "Files", "chunks"};
  options.most_rows = 1;
  const std::string html = DocumentHtmlTable(Files(), options);
  EXPECT_TRUE(absl::StrContains(html, "b.root")) << html;
  EXPECT_FALSE(absl::StrContains(html, "a.root")) << html;
  EXPECT_TRUE(absl::StrContains(html, "2 more in measurement.json.")) << html;
}

TEST(FieldCell, WhatIsNullIsADashBelowEveryNumber) {
  const HtmlCell cell = FieldCell(Cell(), Kind::kCount, "files[0].chunks");
  EXPECT_EQ(cell.html, "–");
  EXPECT_LT(cell.number.value_or(0), -1e299);
}

}  // namespace
}  // namespace crema
