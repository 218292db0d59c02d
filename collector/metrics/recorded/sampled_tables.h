// What samples of threads say (docs/metrics.md): the functions that sections are made of, and what threads waited for.
#pragma once

#include <set>

#include "collector/measurement/recorded.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/records/facts.h"
#include "collector/symbols/symbol_table.h"

namespace crema {

/// Puts equal rows together, orders them, and computes the shares. `last_is_other`: the last row is that of what found
/// no room; it stays there, and no share is known.
void FinishFunctionRows(bool last_is_other, std::vector<FunctionRow>* rows);

/// Accumulator of the innermost functions of `stacks` lines.
class FunctionTable {
 public:
  static constexpr size_t kMaxRows = 10'000;  ///< docs/limits.md, "Kept short"

  void Add(const StacksFact& stacks);
  void Merge(const FunctionTable& other);
  /// Rows by section and dataset, in each the largest first; last the one of all that found no room, if any did: then
  /// no share is known. `dropped`: its samples.
  std::vector<FunctionRow> Finalize(int64_t* dropped) const;
  /// Why native stacks were not taken, in some processes or threads.
  std::vector<std::string> refused() const { return {refused_reasons_.begin(), refused_reasons_.end()}; }

 private:
  struct Sum {
    int64_t samples = 0;
    int64_t squares = 0;

    void Add(const Sum& other) {
      samples = SaturatingAdd(samples, other.samples);
      squares = SaturatingAdd(squares, other.squares);
    }
  };
  void AddReason(std::string reason);

  GroupedSums<Sum> sums_{kMaxRows};
  static constexpr size_t kMostReasons = 10;
  std::set<std::string> refused_reasons_;  ///< the first ones in the order of the alphabet
};

/// A function of native code, and where it begins in its file.
struct NamedFunction {
  std::string name;
  std::string file;
  std::string build_id;
  uint64_t begin = 0;
};

/// Reads each file once.
class FunctionNamer {
 public:
  /// The function that a line `stacks` calls `file+0xaddress` (docs/record_log.md, "stacks"), if its file is still what
  /// ran and has a symbol there; nullopt: it is not, or `function` has a name already.
  std::optional<NamedFunction> Find(const std::string& function, const std::string& file, const std::string& build_id);
  /// The lines on which they begin; nullopt: their files do not say. Reads each file at most once more.
  std::vector<std::optional<SourceLine>> LinesOf(const std::vector<NamedFunction>& functions);
  /// What is wrong with files, a sentence each.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::pair<std::string, std::string>, std::optional<SymbolTable>> files_;
  std::vector<std::string> problems_;
};

/// Gives rows of native functions (`FunctionRow::build_id`) their names, and their sources where these are known. Puts
/// together those that become equal (`FinishFunctionRows`).
void NameFunctions(bool last_is_other, FunctionNamer* namer, std::vector<FunctionRow>* rows);

/// `TFile::ReadBuffer` of `bool TFile::ReadBuffer(char*, int) const`.
std::string PlainName(std::string_view function);

/// What threads waited for: samples of waits, and the exact blocked time that they divide (docs/waits.md).
struct WaitCount {
  std::string dataset;  ///< empty: none
  std::string section;
  std::string kind;
  std::string object;
  std::string stack;
  std::string function;  ///< the innermost one outside the system's libraries; `NameWaits` finds it
  int64_t samples = 0;
};

/// Finds the functions of stacks, and takes the kinds and objects from them that only these show (docs/waits.md).
void NameWaits(FunctionNamer* namer, std::vector<WaitCount>* counts);

/// Accumulator of the `waits` of chunk lines.
class WaitTable {
 public:
  static constexpr size_t kMaxRows = 2000;  ///< docs/limits.md, "Kept short"

  void Add(std::string_view dataset, const std::vector<WaitFact>& waits);
  void Merge(const WaitTable& other) { sums_.Merge(other.sums_); }
  /// By dataset, section, kind, object and stack. What found no room is not there.
  std::vector<WaitCount> Finalize() const;

 private:
  struct Sum {
    int64_t samples = 0;
    void Add(const Sum& other) { samples = SaturatingAdd(samples, other.samples); }
  };
  GroupedSums<Sum> sums_{kMaxRows};
};

/// Divides the blocked time of each dataset among its waits. Rows of few samples are put together: by function first,
/// then by object, by section, and last as `other`; where all of a dataset's are few, its whole blocked time is `not
/// known`. None where no thread was sampled.
std::vector<WaitSumRow> DivideBlocked(const std::vector<WaitCount>& counts, const AttemptFindings& attempts);

}  // namespace crema
