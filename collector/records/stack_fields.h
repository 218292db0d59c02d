// The fields of `stacks` lines (docs/record_log.md, "Types").
#ifndef CREMA_COLLECTOR_RECORDS_STACK_FIELDS_H_
#define CREMA_COLLECTOR_RECORDS_STACK_FIELDS_H_

#include <cstdint>
#include <utility>

#include "collector/records/facts.h"
#include "collector/records/json_fields.h"

namespace crema::json {

/// `[name, file, line]`; file and line may be null.
inline Complaint ReadFunctions(ondemand::value& value, StacksFact& out) {
  static constexpr char kBadFunction[] = "holds something that is not a list of a name, a file and a line";
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  out.functions.clear();
  for (auto element : array) {
    ondemand::array fields;
    if (element.get_array().get(fields)) return kBadFunction;
    FunctionFact function;
    int at = 0;
    for (auto field : fields) {
      ondemand::value item;
      if (field.get(item)) return kBadFunction;
      if (at == 0 && ReadValue(item, function.name)) return kBadFunction;
      if (at == 1 && !IsNull(item) && ReadValue(item, function.file)) return kBadFunction;
      if (at == 2 && !IsNull(item) && (ReadValue(item, function.line) || *function.line < 0)) return kBadFunction;
      ++at;
    }
    if (at < 3) return kBadFunction;
    out.functions.push_back(function);
  }
  return nullptr;
}

/// `[samples, squares, function, …]`.
inline Complaint ReadStacks(ondemand::value& value, StacksFact& out) {
  static constexpr char kBadStack[] = "holds something that is not a list of samples, squares and functions";
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  out.stacks.clear();
  for (auto element : array) {
    ondemand::array numbers;
    if (element.get_array().get(numbers)) return kBadStack;
    StackFact stack;
    int64_t at = 0;
    for (auto field : numbers) {
      int64_t number = 0;
      if (field.get_int64().get(number) || number < 0) return kBadStack;
      if (at == 0) stack.samples = number;
      if (at == 1) stack.squares = number;
      if (at > 1) stack.functions.push_back(number);
      ++at;
    }
    if (stack.functions.empty()) return kBadStack;
    out.stacks.push_back(std::move(stack));
  }
  return nullptr;
}

/// `[name, path, build id]`; the last may be null.
inline Complaint ReadModules(ondemand::value& value, StacksFact& out) {
  static constexpr char kBadModule[] = "holds something that is not a list of a name, a path and a build id";
  ondemand::array array;
  if (value.get_array().get(array)) return kNotAList;
  out.modules.clear();
  for (auto element : array) {
    ondemand::array fields;
    if (element.get_array().get(fields)) return kBadModule;
    ModuleFact module;
    std::string_view* const texts[] = {&module.name, &module.path, &module.build_id};
    size_t at = 0;
    for (auto field : fields) {
      ondemand::value item;
      if (field.get(item)) return kBadModule;
      if (at < 3 && !(at == 2 && IsNull(item)) && ReadValue(item, *texts[at])) return kBadModule;
      ++at;
    }
    if (at < 3) return kBadModule;
    out.modules.push_back(module);
  }
  return nullptr;
}

inline constexpr Field<StacksFact> kStacksFields[] = {
    Skip<StacksFact>("type"),
    NotNegative<&StacksFact::time_ns>("time_ns", kRequired),
    Any<&StacksFact::dataset>("dataset"),
    Any<&StacksFact::section>("section", kRequired),
    NotNegative<&StacksFact::hertz>("hertz", kRequired),
    {"modules", false, &ReadModules, &TakeNothing<StacksFact>, &ClearNothing<StacksFact>},
    {"functions", kRequired, &ReadFunctions, &TakeNothing<StacksFact>, &ClearNothing<StacksFact>},
    {"stacks", kRequired, &ReadStacks, &TakeNothing<StacksFact>, &ClearNothing<StacksFact>},
    Any<&StacksFact::refused>("refused"),
};

}  // namespace crema::json

#endif  // CREMA_COLLECTOR_RECORDS_STACK_FIELDS_H_
