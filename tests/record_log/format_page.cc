#include "tests/record_log/format_page.h"

#include <fstream>

namespace crema {
namespace testing {
namespace {

bool StartsWith(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

/// The text between the first two back quotes.
std::string Quoted(const std::string& text) {
  const std::size_t begin = text.find('`');
  const std::size_t end = text.find('`', begin + 1);
  return end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
}

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// `| a | b |` as {a, b}.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t bar = 0, next; (next = line.find('|', bar + 1)) != std::string::npos; bar = next) {
    cells.push_back(Trimmed(line.substr(bar + 1, next - bar - 1)));
  }
  return cells;
}

}  // namespace

FormatPage ReadFormatPage(const std::string& path) {
  FormatPage page;
  std::vector<FieldRule>* table = nullptr;
  std::string type;
  bool in_example = false;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (StartsWith(line, "```")) {
      in_example = line == "```json";
    } else if (in_example) {
      page.examples[type] = line;
    } else if (StartsWith(line, "#### A row of `")) {
      table = &page.rows[Quoted(line)];
    } else if (StartsWith(line, "### `")) {
      type = Quoted(line);
      table = &page.lines[type];
    } else if (StartsWith(line, "## ")) {
      table = nullptr;
    } else if (table != nullptr && StartsWith(line, "| `")) {
      const std::vector<std::string> cells = Cells(line);
      if (cells.size() != 4) continue;
      const bool left_out = StartsWith(cells[2], "left out");
      const bool may_be_null = left_out ? cells[2].find("null:") != std::string::npos : cells[2] != "never";
      table->push_back({Quoted(cells[0]), cells[1], left_out, may_be_null});
    }
  }
  return page;
}

}  // namespace testing
}  // namespace crema
