// Names as people read them: workers without what all share, short functions, and what a misspelt name may stand for.
// means.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace crema {

/// Without the scheme of an address.
std::string_view WorkerName(std::string_view name);

/// Whether `a` is before `b`: numbers in names count as numbers (`w2` before `w10`). The one order of workers.
bool IsBefore(std::string_view a, std::string_view b);

/// The workers of a run. Their names lose the scheme of an address, the domain that all hosts share, and the
/// beginning that all names share up to a `:`, `/`, `-` or `.`: `tcp://n1.cern.ch:4000` is `n1:4000`.
class WorkerNames {
 public:
  explicit WorkerNames(const std::set<std::string>& names);
  /// Two of them never get the same name.
  std::string Of(std::string_view name) const;

 private:
  std::string WithoutDomain(std::string_view name) const;
  std::string domain_;     ///< `.cern.ch`, or empty
  std::string beginning_;  ///< of the names without scheme and domain
};

/// Bytes of the UTF-8 code point that begins at `at`; 0 where none does (RFC 3629, section 4).
size_t CodePointBytes(std::string_view text, size_t at);

// Names of functions as people read them where there is little room.

/// `void std::vector<int, std::allocator<int> >::push_back(int const&)` is `std::vector<…>::push_back`: a name of C++
/// without its parameters, the type of its result, namespaces without a name, and what templates are given. Other names
/// stay as they are.
std::string ShortFunctionName(std::string_view name);

// The names that a misspelt one may stand for.

/// `; did you mean A, B?` with at most five of `names`: those that contain `word`, then those that are spelt like it.
/// Empty if there are none.
std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& names);

/// The same of a path that does not exist: the names of entries beside it.
std::string DidYouMeanEntry(const std::string& path);

}  // namespace crema
