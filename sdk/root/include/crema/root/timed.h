// Timed: the function of a Define or Filter as a section.
#ifndef CREMA_ROOT_TIMED_H_
#define CREMA_ROOT_TIMED_H_

#include <ROOT/TypeTraits.hxx>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "crema/root/error_notes.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep
#include "crema/track_section.h"

namespace crema {
namespace internal {

template <class Function, class Result, class Arguments>
class TimedFunction;

/// With the signature of `Function`, from which RDataFrame takes the types of columns.
template <class Function, class Result, class... Arguments>
class TimedFunction<Function, Result, ROOT::TypeTraits::TypeList<Arguments...>> {
 public:
  TimedFunction(std::string_view name, Function function) : name_(name), function_(std::move(function)) {}

  Result operator()(Arguments... arguments) {
    const TrackSection section{std::string_view(name_)};
    try {
      return function_(std::forward<Arguments>(arguments)...);
    } catch (const std::exception& error) {
      ErrorNote::OfThread().Set(name_.c_str(), error.what());
      throw;
    }
  }

 private:
  std::string name_;
  Function function_;
};

}  // namespace internal

/// Wraps a function with one signature (no overloads, no template) for `Define`, `Filter` and their like: its calls add
/// up as section `name` of the chunk. What it throws is the reason of the failed chunk, and goes on to RDataFrame.
/// Costs what a section costs, so it is for functions of a microsecond and more.
///
///     events.Define("jets", crema::Timed("jets", Cluster), {"pt", "eta"});
template <class Function>
auto Timed(std::string_view name, Function&& function) {
  using Callable = std::decay_t<Function>;
  using Traits = ROOT::TypeTraits::CallableTraits<Callable>;
  return internal::TimedFunction<Callable, typename Traits::ret_type, typename Traits::arg_types_nodecay>(
      name, std::forward<Function>(function));
}

}  // namespace crema

#endif  // CREMA_ROOT_TIMED_H_
