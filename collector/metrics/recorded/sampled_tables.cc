#include "collector/metrics/recorded/sampled_tables.h"

#include <charconv>
#include <system_error>

#include "collector/idioms/normal_distribution.h"
#include "collector/idioms/text.h"

namespace crema {
namespace {

std::string NameOf(const StacksFact& stacks, const FunctionFact& function) {
  const std::string line = function.line.has_value() ? std::to_string(*function.line) : "";
  return KeyOf({stacks.section, stacks.dataset, function.name, function.file, line, function.build_id});
}

FunctionRow FunctionRowOf(std::string_view name) {
  FunctionRow row;
  row.section = TakeText(&name);
  row.dataset = Text::OrNull(TakeText(&name));
  row.function = TakeText(&name);
  row.file = Text::OrNull(TakeText(&name));
  const std::string line(TakeText(&name));
  if (!line.empty()) row.line = std::stoll(line);
  row.build_id = TakeText(&name);
  return row;
}

auto PlaceAndFunction(const FunctionRow& row) {
  return std::tie(row.section, row.dataset, row.function, row.file, row.line, row.build_id);
}

/// Half the width of Agresti and Coull's interval, which covers the true share in 95 of 100 runs. It is not zero where
/// all sightings, or none, were in one function. (Approximate is better than "exact", The American Statistician 52,
/// 1998)
double ShareError(double share, double sightings) {
  constexpr double kAdded = kSigmasTo975 * kSigmasTo975;
  const double centre = (share * sightings + kAdded / 2) / (sightings + kAdded);
  return kSigmasTo975 * std::sqrt(centre * (1 - centre) / (sightings + kAdded));
}

// `prog+0x1139`.
std::optional<uint64_t> AddressOf(std::string_view name) {
  const size_t plus = name.rfind("+0x");
  if (plus == std::string_view::npos) return std::nullopt;
  name.remove_prefix(plus + 3);
  uint64_t address = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), address, 16);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return address;
}

constexpr std::string_view kRunning = "running";
constexpr std::string_view kChild = "child process";
constexpr std::string_view kLockOrCondition = "lock or condition";
constexpr std::string_view kLock = "lock";
constexpr std::string_view kCondition = "condition or queue";
constexpr std::string_view kInterpreterLock = "interpreter lock";
constexpr std::string_view kDevice = "device";
constexpr std::string_view kNotKnown = "not known";

/// Nanoseconds of the owners and helpers of a dataset's ended attempts.
struct BlockedTimes {
  OptionalSum whole;  ///< wall time of owners, and scopes of helpers: of threads that are looked at
  OptionalSum cpu_wait;
  OptionalSum joined;
  OptionalSum children;
  OptionalSum blocked;
};

void AddBlocked(const AttemptRow& row, const std::vector<HelperTimes>& helpers, BlockedTimes* times) {
  const std::optional<int64_t> blocked_ns = ChunkBlocked(row, helpers), of_helpers = HelperBlocked(row, helpers);
  if (!blocked_ns.has_value() || !of_helpers.has_value()) return;
  const HelperTimes helper = row.helpers == AttemptRow::kNone ? HelperTimes() : helpers[row.helpers];
  times->whole.Add(row.duration_ns);
  times->whole.Add(helper.scope_ns - helper.unannounced_ns - helper.children_ns);
  times->cpu_wait.Add(row.cpu_wait_ns);
  times->cpu_wait.Add(HelperCpuWait(row, helpers));
  times->joined.Add(SplitOwnerTime(row, helpers)->joined_ns);
  times->children.Add(helper.children_ns);
  times->blocked.Add(*blocked_ns);
  times->blocked.Add(*of_helpers);
}

struct Wait {
  std::string section;
  std::string kind;
  std::string object;
  std::string function;
  friend bool operator<(const Wait& a, const Wait& b) {
    return std::tie(a.kind, a.section, a.object, a.function) < std::tie(b.kind, b.section, b.object, b.function);
  }
  bool is_for_thread() const { return kind == kLockOrCondition || kind == kLock || kind == kCondition; }
};
using Samples = std::map<Wait, int64_t>;

/// Puts rows of too few samples together in what `rest` makes of them.
template <class Rest>
Samples WithoutFew(const Samples& samples, const Rest& rest) {
  Samples kept;
  for (const auto& [wait, count] : samples) kept[count < kLeastSamplesOfWait ? rest(wait) : wait] += count;
  return kept;
}

Samples Readable(Samples samples) {
  samples = WithoutFew(samples, [](const Wait& wait) { return Wait{wait.section, wait.kind, wait.object, ""}; });
  samples = WithoutFew(samples, [](const Wait& wait) { return Wait{wait.section, wait.kind, "", ""}; });
  samples = WithoutFew(samples, [](const Wait& wait) { return Wait{"", wait.kind, "", ""}; });
  std::map<std::string, int64_t> of_kind;
  for (const auto& [wait, count] : samples) of_kind[wait.kind] += count;
  return WithoutFew(samples, [&of_kind](const Wait& wait) {
    return Wait{"", std::string(of_kind[wait.kind] < kLeastSamplesOfWait ? kNotKnown : wait.kind), "", ""};
  });
}

/// Wilson's interval of a share: low and high.
std::pair<double, double> WilsonRange(double share, double samples) {
  const double z2 = kSigmasTo975 * kSigmasTo975 / samples;
  const double middle = (share + z2 / 2) / (1 + z2);
  const double half = kSigmasTo975 * std::sqrt(share * (1 - share) / samples + z2 / (4 * samples)) / (1 + z2);
  return {middle - half, middle + half};
}

/// The samples are of all time without a CPU, and owners that wait for helpers have a part of it that is not blocked:
/// for child processes it comes off the waits for these, for threads off the waits at locks, and what is left off all.
void TakeOffJoined(double joined, double children, std::map<Wait, double>* seconds) {
  const auto take = [&](double wanted, const auto& is_it) {
    double there = 0;
    for (const auto& [wait, value] : *seconds) there += is_it(wait) ? value : 0;
    const double taken = std::min(wanted, there);
    for (auto& [wait, value] : *seconds) value -= is_it(wait) && there > 0 ? value * taken / there : 0;
    return taken;
  };
  joined -= take(std::min(children, joined), [](const Wait& wait) { return wait.kind == kChild; });
  joined -= take(joined, [](const Wait& wait) { return wait.is_for_thread(); });
  take(joined, [](const Wait&) { return true; });
}

void AddRows(const std::string& dataset, const Samples& all, const BlockedTimes& times, std::vector<WaitSumRow>* rows) {
  const double whole = times.whole.Seconds().value_or(0);
  const double blocked = times.blocked.Seconds().value_or(0);
  const double joined = times.joined.Seconds().value_or(0);
  if (blocked <= 0) return;
  int64_t running = 0;
  int64_t seen = 0;
  Samples waits;
  for (const auto& [wait, count] : all) {
    (wait.kind == kRunning ? running : seen) += count;
    if (wait.kind != kRunning) waits[wait] += count;
  }
  WaitSumRow row;
  row.dataset = Text::OrNull(dataset);
  row.coarse = whole > 0 && times.cpu_wait.Seconds().value_or(0) > kCoarseWait * whole;
  if (seen < kLeastSamplesOfWait) {
    row.section = "";
    row.kind = std::string(kNotKnown);
    row.seconds = blocked;
    row.share = 1.0;
    row.samples = seen;
    rows->push_back(row);
    return;
  }
  const auto count = static_cast<double>(seen);
  // How far the samples are from the clocks, where both say how much was blocked.
  const double exact = (blocked + joined) / whole;
  const double bias = std::abs(count / static_cast<double>(seen + running) - exact) / exact;
  waits = Readable(std::move(waits));
  std::map<Wait, double> seconds;
  for (const auto& [wait, samples] : waits) {
    seconds[wait] = (blocked + joined) * static_cast<double>(samples) / count;
  }
  TakeOffJoined(joined, times.children.Seconds().value_or(0), &seconds);
  for (const auto& [wait, value] : seconds) {
    const double samples = static_cast<double>(waits[wait]);
    const double sampled = samples / count;
    const auto [low, high] = WilsonRange(sampled, count);
    row.section = wait.section;
    row.kind = wait.kind;
    row.object = Text::OrNull(wait.object);
    row.function = Text::OrNull(wait.function);
    row.seconds = value;
    row.share = value / blocked;
    row.low = std::max(0.0, *row.share - (sampled - low) - bias);
    row.high = std::min(1.0, *row.share + (high - sampled) + bias);
    row.samples = waits[wait];
    rows->push_back(row);
  }
}

struct WaitingFunction {
  std::string_view name;
  bool is_prefix;
  std::string_view kind;
};

/// What functions wait for, without underscores that begin their names. The kernel knows one call for all of them.
constexpr WaitingFunction kWaitingFunctions[] = {
    {"take_gil", false, kInterpreterLock},
    {"pthread_mutex", true, kLock},
    {"pthread_rwlock", true, kLock},
    {"flock", false, kLock},
    {"lockf", true, kLock},
    {"fcntl", true, kLock},
    {"malloc", false, kLock},
    {"calloc", false, kLock},
    {"realloc", false, kLock},
    {"free", false, kLock},
    {"cfree", false, kLock},
    {"pthread_", true, kCondition},
    {"sem_", true, kCondition},
    {"std::__atomic_wait", true, kCondition},
    {"mtx_", true, kLock},
    {"cnd_", true, kCondition},
    {"thrd_join", false, kCondition},
};

/// Functions of Python's locks. Its queues and conditions are made of locks as well, so what they wait for is not
/// known.
constexpr std::string_view kOfPythonsLocks[] = {"PyThread_acquire", "PyMutex_Lock"};

/// The beginnings of names of files. Those of the system are in no function of the user's.
constexpr std::string_view kOfSystem[] = {"libc.so", "libc-",   "libpthread", "ld-",        "libstdc++",
                                          "libc++",  "libm.so", "libgcc_s",   "linux-vdso", "librt"};
constexpr std::string_view kOfDevices[] = {"libcuda", "libnv", "libamdhip", "libhsa", "libze_"};
constexpr std::string_view kOfThreadPools[] = {"libtbb", "libgomp", "libomp", "libiomp"};

template <size_t kSize>
bool BeginsAsOneOf(std::string_view name, const std::string_view (&beginnings)[kSize]) {
  return absl::c_any_of(beginnings, [name](std::string_view beginning) { return BeginsWith(name, beginning); });
}

/// A function on a stack.
struct StackedFunction {
  std::string name;
  std::string file;  ///< without its directories

  bool is_users() const {
    return !BeginsAsOneOf(file, kOfSystem) && !BeginsAsOneOf(file, kOfDevices) &&
           !BeginsAsOneOf(file, kOfThreadPools) && !BeginsWith(name, "std::") && !BeginsWith(name, "__");
  }
};

/// Reads `WaitFact::stack`.
std::vector<StackedFunction> FunctionsOf(std::string_view stack, FunctionNamer* namer) {
  std::vector<StackedFunction> functions;
  std::string build_id, path;
  while (!stack.empty()) {
    const std::string_view line = stack.substr(0, stack.find('\n'));
    stack.remove_prefix(std::min(line.size() + 1, stack.size()));
    const size_t plus = line.find('+');
    if (plus == std::string_view::npos) {
      functions.push_back({std::string(line), ""});
      continue;
    }
    const size_t blank = line.find(' ', plus);
    const std::string address(line.substr(plus, blank - plus));
    if (blank != std::string_view::npos) {
      build_id = line.substr(0, plus);
      path = line.substr(blank + 1);
    }
    const std::string file = path.substr(path.rfind('/') + 1);
    const std::optional<NamedFunction> named = namer->Find(file + address, path, build_id);
    functions.push_back({named.has_value() ? PlainName(named->name) : file + address, file});
  }
  return functions;
}

void TakeKind(const std::vector<StackedFunction>& functions, WaitCount* count) {
  const bool is_held = BeginsWith(count->object, "held ");
  bool is_mutex = false;
  for (const StackedFunction& function : functions) {
    const std::string_view plain =
        std::string_view(function.name).substr(std::min(function.name.find_first_not_of('_'), function.name.size()));
    for (const WaitingFunction& known : kWaitingFunctions) {
      if (count->kind != kLockOrCondition) break;
      if (known.is_prefix ? !BeginsWith(plain, known.name) : plain != known.name) continue;
      count->kind = known.kind;
      is_mutex = known.name == "pthread_mutex";
    }
    if (count->kind == kLockOrCondition && BeginsAsOneOf(function.file, kOfThreadPools)) count->kind = kCondition;
    if (count->kind == kCondition && BeginsAsOneOf(plain, kOfPythonsLocks)) count->kind = kLockOrCondition;
    if (!BeginsAsOneOf(function.file, kOfDevices)) continue;
    count->kind = kDevice;
    count->object = function.name;  // the outermost one is what was called
  }
  if (is_held && !is_mutex && count->kind != kDevice) count->object.clear();  // what was there was no holder
}

}  // namespace

void FinishFunctionRows(bool last_is_other, std::vector<FunctionRow>* rows) {
  std::vector<FunctionRow> finished;
  std::optional<FunctionRow> other;
  if (last_is_other) {
    other = std::move(rows->back());
    rows->pop_back();
  }
  SortBy(rows, PlaceAndFunction);
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> totals;  // by section and dataset
  for (FunctionRow& row : *rows) {
    auto& [samples, squares] = totals[{row.section, row.dataset}];
    samples = SaturatingAdd(samples, row.samples.integer());
    squares = SaturatingAdd(squares, row.squares);
    if (!finished.empty() && PlaceAndFunction(finished.back()) == PlaceAndFunction(row)) {
      finished.back().samples = SaturatingAdd(finished.back().samples.integer(), row.samples.integer());
      finished.back().squares = SaturatingAdd(finished.back().squares, row.squares);
    } else {
      finished.push_back(std::move(row));
    }
  }
  for (FunctionRow& row : finished) {
    const auto [samples, squares] = totals[{row.section, row.dataset}];
    row.share = row.share_error = std::nullopt;
    if (other.has_value() || samples == 0 || squares == 0) continue;
    const auto all = static_cast<double>(samples);
    row.share = *row.samples / all;
    // A sighting may stand for several samples: of so many equal ones the share would be as uncertain.
    row.share_error = ShareError(*row.share, all * all / static_cast<double>(squares));
  }
  absl::c_stable_sort(finished, [](const FunctionRow& one, const FunctionRow& another) {
    return std::tie(one.section, one.dataset, another.samples) <
           std::tie(another.section, another.dataset, one.samples);
  });
  if (other.has_value()) finished.push_back(*std::move(other));
  *rows = std::move(finished);
}

void FunctionTable::Add(const StacksFact& stacks) {
  for (const StackFact& stack : stacks.stacks) {
    const auto innermost = static_cast<size_t>(stack.functions.back());
    sums_.Add(NameOf(stacks, stacks.functions[innermost]), {stack.samples, stack.squares});
  }
  if (!stacks.refused.empty()) AddReason(std::string(stacks.refused));
}

void FunctionTable::AddReason(std::string reason) {
  refused_reasons_.insert(std::move(reason));
  if (refused_reasons_.size() > kMostReasons) refused_reasons_.erase(std::prev(refused_reasons_.end()));
}

void FunctionTable::Merge(const FunctionTable& other) {
  sums_.Merge(other.sums_);
  for (const std::string& reason : other.refused_reasons_) AddReason(reason);
}

std::vector<FunctionRow> FunctionTable::Finalize(int64_t* dropped) const {
  std::vector<FunctionRow> rows;
  const Sum refused = sums_.Finalize([&rows](std::string_view key, const Sum& sum) {
    FunctionRow& row = rows.emplace_back(FunctionRowOf(key));
    row.samples = sum.samples;
    row.squares = sum.squares;
  });
  *dropped = refused.samples;
  if (*dropped > 0) {
    FunctionRow other;
    other.section = other.function = kOtherName;
    other.samples = *dropped;
    other.squares = refused.squares;
    rows.push_back(std::move(other));
  }
  FinishFunctionRows(*dropped > 0, &rows);
  return rows;
}

std::optional<NamedFunction> FunctionNamer::Find(const std::string& function, const std::string& file,
                                                 const std::string& build_id) {
  if (file.empty() || file.front() != '/') return std::nullopt;  // the kernel's has no path
  const std::optional<uint64_t> address = AddressOf(function);
  if (!address.has_value()) return std::nullopt;
  auto [known, is_new] = files_.try_emplace({file, build_id});
  if (is_new) {
    if (absl::StatusOr<SymbolTable> symbols = SymbolTable::Read(file, build_id); symbols.ok()) {
      known->second = *std::move(symbols);
    } else {
      problems_.push_back(std::string(symbols.status().message()) + "; its functions have no names");
    }
  }
  if (!known->second.has_value()) return std::nullopt;
  const std::optional<NativeFunction> found = known->second->FunctionAt(*address);
  if (!found.has_value()) return std::nullopt;
  return NamedFunction{ReadableName(found->symbol), file, build_id, found->begin};
}

std::vector<std::optional<SourceLine>> FunctionNamer::LinesOf(const std::vector<NamedFunction>& functions) {
  std::map<std::string, std::vector<size_t>> of_file;
  for (size_t i = 0; i < functions.size(); ++i) {
    const auto known = files_.find({functions[i].file, functions[i].build_id});
    if (known == files_.end() || !known->second.has_value()) continue;
    if (const std::string& file = known->second->file_with_lines(); !file.empty()) of_file[file].push_back(i);
  }
  std::vector<std::optional<SourceLine>> lines(functions.size());
  for (const auto& [file, asked] : of_file) {
    const auto addresses = Mapped<uint64_t>(asked, [&functions](size_t i) { return functions[i].begin; });
    const absl::StatusOr<std::vector<std::optional<SourceLine>>> found = FindSourceLines(file, addresses);
    if (!found.ok()) {
      problems_.push_back(std::string(found.status().message()) + "; functions have no lines");
      if (absl::IsUnavailable(found.status())) break;
      continue;
    }
    for (size_t at = 0; at < asked.size(); ++at) lines[asked[at]] = (*found)[at];
  }
  return lines;
}

void NameFunctions(bool last_is_other, FunctionNamer* namer, std::vector<FunctionRow>* rows) {
  std::vector<NamedFunction> named;
  std::vector<FunctionRow*> rows_of_named;
  for (FunctionRow& row : *rows) {
    if (row.line.has_value()) continue;
    std::optional<NamedFunction> found = namer->Find(row.function, row.file, row.build_id);
    if (!found.has_value()) continue;
    row.function = found->name;
    row.build_id.clear();
    named.push_back(*std::move(found));
    rows_of_named.push_back(&row);
  }
  const std::vector<std::optional<SourceLine>> lines = namer->LinesOf(named);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].has_value()) continue;
    rows_of_named[i]->file = lines[i]->file;
    rows_of_named[i]->line = lines[i]->line;
  }
  if (!named.empty()) FinishFunctionRows(last_is_other, rows);
}

std::string PlainName(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)", kOperator = "operator";
  std::string name;
  int depth = 0;  // of arguments
  for (size_t i = 0; i < function.size(); ++i) {
    const std::string_view rest = function.substr(i);
    const bool is_outside = depth == 0;
    if (is_outside && BeginsWith(rest, kAnonymous)) {
      name += kAnonymous;
      i += kAnonymous.size() - 1;
    } else if (is_outside && BeginsWith(rest, kOperator)) {
      const size_t end = rest.find('(', kOperator.size() + (BeginsWith(rest, "operator()") ? 1 : 0));
      return name.append(rest.substr(0, end));
    } else if (rest[0] == '<' || rest[0] == '(') {
      ++depth;
    } else if (!is_outside) {
      depth -= rest[0] == '>' || rest[0] == ')' ? 1 : 0;
      const bool goes_on =
          BeginsWith(rest.substr(1), "::") || BeginsWith(rest.substr(1), "#");  // to what is inside: a lambda
      if (depth == 0 && rest[0] == ')' && !goes_on) break;
    } else if (rest[0] == ' ') {
      name.clear();  // that was what it returns
    } else {
      name += rest[0];
    }
  }
  return name;
}

void NameWaits(FunctionNamer* namer, std::vector<WaitCount>* counts) {
  std::map<std::string, std::vector<StackedFunction>> known;
  for (WaitCount& count : *counts) {
    const auto [at, is_new] = known.try_emplace(count.stack);
    if (is_new) at->second = FunctionsOf(count.stack, namer);
    TakeKind(at->second, &count);
    if (count.kind == kInterpreterLock) continue;  // the function that takes it says no more
    const auto users = absl::c_find_if(at->second, std::mem_fn(&StackedFunction::is_users));
    if (users != at->second.end()) count.function = users->name;
  }
}

void WaitTable::Add(std::string_view dataset, const std::vector<WaitFact>& waits) {
  for (const WaitFact& wait : waits)
    sums_.Add(KeyOf({dataset, wait.path, wait.kind, wait.object, wait.stack}), {wait.samples});
}

std::vector<WaitCount> WaitTable::Finalize() const {
  std::vector<WaitCount> counts;
  sums_.Finalize([&](std::string_view key, const Sum& sum) {
    WaitCount count;
    for (std::string* text : {&count.dataset, &count.section, &count.kind, &count.object, &count.stack})
      *text = TakeText(&key);
    count.samples = sum.samples;
    counts.push_back(std::move(count));
  });
  return counts;
}

std::vector<WaitSumRow> DivideBlocked(const std::vector<WaitCount>& counts, const AttemptFindings& attempts) {
  if (counts.empty()) return {};
  std::vector<BlockedTimes> times(attempts.datasets.size());
  const auto times_of = [&](const AttemptRow& row) { return &times[attempts.dataset_of_input[row.input]]; };
  for (const AttemptRow& row : attempts.rows) {
    if (HasEnded(row)) AddBlocked(row, attempts.helpers, times_of(row));
  }
  for (const SummedAttempts& summed : attempts.summed) AddBlocked(summed.row, attempts.helpers, times_of(summed.row));
  std::map<std::string, Samples> samples;
  for (const WaitCount& count : counts) {
    samples[count.dataset][{count.section, count.kind, count.object, count.function}] += count.samples;
  }
  std::vector<WaitSumRow> rows;
  for (size_t i = 0; i < times.size(); ++i)
    AddRows(attempts.datasets[i], samples[attempts.datasets[i]], times[i], &rows);
  SortLargestFirst(&rows, [](const WaitSumRow& a) { return a.seconds.value_or(0); });
  return rows;
}

}  // namespace crema
