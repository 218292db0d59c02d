// The forms in which sacct writes its rows: with a delimiter (`--parsable2`, `--delimiter`), as a table of fixed width,
// or as JSON (`--json`).
#ifndef CREMA_COLLECTOR_ENGINES_SLURM_SACCT_TABLE_H_
#define CREMA_COLLECTOR_ENGINES_SLURM_SACCT_TABLE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

using SacctCells = std::vector<std::string>;

/// Which column holds what, from the line that names them.
class SacctHeader {
 public:
  SacctHeader() = default;
  explicit SacctHeader(std::string_view line);
  explicit SacctHeader(const SacctCells& names);
  /// Of rows without a header: nothing has a name before `Name`. `places`: of a table's columns, offset and width.
  SacctHeader(char delimiter, size_t columns) : delimiter_(delimiter), columns_(columns) {}
  explicit SacctHeader(std::vector<std::pair<size_t, size_t>> places)
      : delimiter_(' '), columns_(places.size()), places_(std::move(places)) {}
  /// One name for each column; empty: it is not known.
  void Name(const SacctCells& names);
  /// It names jobs, and something of them.
  bool is_sacct() const;
  /// When jobs ran can be read from these columns.
  bool has_times() const;
  bool is_table() const { return delimiter_ == ' '; }
  bool Has(std::string_view name) const { return column_of_.count(name) > 0; }
  /// Empty if there is no column of this name.
  std::string_view Of(const SacctCells& row, std::string_view name) const;

  /// Of a table: takes the widths of its columns from the line of dashes below. False if the line has none.
  bool TakeWidths(std::string_view dashes);
  /// Cells of a line; nullopt: it is none of this header. One cell of a free text or a list (a job's name, a command,
  /// nodes) may hold the delimiter, where the other cells then make sense.
  std::optional<SacctCells> Split(std::string_view line) const;

 private:
  bool MakesSense(const SacctCells& row) const;

  char delimiter_ = '|';
  std::map<std::string, size_t, std::less<>> column_of_;
  size_t columns_ = 0;
  std::vector<std::pair<size_t, size_t>> places_;  // of a table's columns
};

/// The state that a cell begins with: CANCELLED of `CANCELLED by 1000`, and OUT_OF_MEMORY of `OUT_OF_ME+`, which a
/// column of a table cut. Empty: it begins with none.
std::string_view SacctState(std::string_view text);

/// What `sacct --json` wrote, as rows below `*header`. Errors: it is not JSON, or of another form.
absl::StatusOr<std::vector<SacctCells>> ReadSacctJson(const std::string& text, SacctHeader* header);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_SLURM_SACCT_TABLE_H_
