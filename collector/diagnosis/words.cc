#include "collector/diagnosis/words.h"

#include <cctype>

#include "absl/strings/match.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/text.h"
#include "collector/measurement/thresholds.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostBytes = 60;

/// A character of a name, seen from a sentence: a full stop or colon ends one where no letter follows.
bool IsOfName(std::string_view text, size_t at) {
  if (at >= text.size()) return false;
  const auto byte = static_cast<unsigned char>(text[at]);
  if (std::isalnum(byte) != 0 || byte >= 0x80 || std::string_view("_-/@").find(text[at]) != std::string_view::npos) {
    return true;
  }
  return (text[at] == '.' || text[at] == ':') && at + 1 < text.size() && std::isalnum(text[at + 1]) != 0;
}

struct KindWords {
  std::string_view kind;
  std::string_view words;
  std::string_view words_with_object;  ///< `{}`: the object
  std::string_view advice;
};

constexpr KindWords kKinds[] = {
    {"lock or condition", "at locks or conditions", "at a lock {}",
     "The threads wait for others: for a lock, a queue, or a thread's end."},
    {"lock", "at locks", "at a lock {}",
     "The threads wait for whoever holds the lock: hold it for less time, or give each thread data of its own."},
    {"condition or queue", "for other threads (conditions, queues)", "for other threads (conditions, queues)",
     "The threads wait for other threads: at a queue that is empty or full, or for a thread's end. Look at those "
     "threads."},
    {"interpreter lock", "for Python's interpreter lock", "for Python's interpreter lock",
     "Only one thread of a process runs Python at a time: use processes, or code that lets go of the lock."},
    {"device", "for a device", "for a device, in {}",
     "A thread waits for a device: crema run --gpu shows what GPUs do."},
    {"read", "reading", "reading {}",
     "Read fewer columns, from nearer storage, or read ahead while the code computes."},
    {"write", "writing", "writing {}", "Write less, or from a thread of its own."},
    {"sync", "making data durable (fsync)", "making {} durable (fsync)",
     "Call fsync once at the end, or not at all: it waits for the disk."},
    {"network", "on the network", "on the network, {}",
     "Ask the server for more at once, read ahead, or read from a nearer one."},
    {"poll", "for descriptors (poll)", "for descriptors (poll)",
     "A thread waits for a peer to send something. Look at the peer, or have several requests under way."},
    {"sleep", "sleeping", "sleeping", "The code sleeps: wait for an event instead of a time."},
    {"child process", "for child processes", "for child processes", "Run the next chunk while the child works."},
    {"page fault", "in page faults", "in page faults",
     "Memory that the code touches comes from a disk: read files instead of mapping them, or use less memory."},
    {"other", "in other system calls", "in {}", ""},
};

const KindWords* WordsOf(std::string_view kind) { return FindBy(kKinds, &KindWords::kind, kind); }

bool IsForThread(std::string_view kind) {
  return kind == "lock or condition" || kind == "lock" || kind == "condition or queue" || kind == "interpreter lock";
}
constexpr std::string_view kPipe = "pipe";

/// Threads without guards may wait for a CPU too, which nobody counts: a chunk that waits for them then seems blocked.
bool OthersWorked(const Measurement& measurement) {
  const double blocked = measurement.Metric("chunk_blocked").value_or(0);
  const double worked =
      measurement.Metric("unannounced_cpu_time").value_or(0) + measurement.Metric("shared_cpu_time").value_or(0);
  return blocked > 0 && kThreadsMatter.Holds(worked / blocked);
}

std::string ObjectWords(const std::string& object, std::string_view kind) {
  const bool is_lock_of_file = (kind == "lock" || kind == "lock or condition") && !absl::StartsWith(object, "held");
  if (is_lock_of_file) return "of " + ShortName(object);
  return object == kPipe || object == "socket" ? "a " + object : ShortName(object);
}

/// "63 ± 4 %", "at least 93 %".
std::string ShareWords(const WaitShare& wait) {
  const double percent = std::round(100 * wait.share), range = std::max(1.0, std::ceil(100 * wait.error));
  if (wait.is_least || percent + range > 100) return fmt::format("at least {:.0f} %", percent - range);
  return fmt::format("{:.0f} ± {:.0f} %", percent, range);
}

constexpr std::string_view kTooFewSamples = "Too few samples show it: run for longer, or crema run --waits=100.";

/// `(other)` stands for many: nobody can look at it.
bool IsNamed(const std::string& name) { return name != kOtherName; }

/// The row of a table that holds most of its blocked time (or of its waiting for a CPU, too), and clearly more than its
/// share of the events or of the chunks' time; empty where none does, or where it is the only row.
template <class Row>
std::string HolderOfMost(const std::vector<Row>& rows, Waiting waiting) {
  // where all events are known, they are the share that a row should have
  const bool have_events = absl::c_all_of(rows, [](const Row& row) { return row.events.value_or(0) > 0; });
  const auto size_of = [&](const Row& row) { return (have_events ? row.events : row.duration_sum).value_or(0); };
  const auto waiting_of = [&](const Row& row) {
    return row.blocked_sum.value_or(0) + (waiting == Waiting::kAll ? row.cpu_wait_sum.value_or(0) : 0);
  };
  const auto [most, largest] = LargestBy(rows, waiting_of);
  if (most == nullptr) return "";
  const double whole = SumOf<double>(rows, waiting_of), busy = SumOf<double>(rows, size_of), size = size_of(*most);
  const bool is_its_share = size > 0 && !kMoreThanItsShare.Holds(largest / whole / (size / busy));
  const bool holds_most = kSeveral.Holds(static_cast<double>(rows.size())) && kMostOfIt.Holds(largest / whole);
  return holds_most && !is_its_share && IsNamed(most->name) ? most->name.str() : "";
}

/// Waiting of a section's own, so without that of the sections inside it.
std::string SectionOfMostWaiting(const Measurement& measurement, double whole) {
  std::map<std::string, double> waits;
  for (const SectionRow& row : measurement.sections) {
    if (row.helper.value_or(false) || !row.cpu.has_value()) continue;
    const std::string path = row.path.str();
    const double wait = std::max(0.0, row.total.value_or(0) - *row.cpu);
    waits[path] += wait;
    // The nearest section around it that measured CPU time holds this wait too.
    for (size_t slash = path.rfind('/'); slash != std::string::npos; slash = path.substr(0, slash).rfind('/')) {
      if (const auto outer = waits.find(path.substr(0, slash)); outer != waits.end()) {
        outer->second -= wait;
        break;
      }
    }
  }
  const auto most = absl::c_max_element(waits, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == waits.end() || whole <= 0 || !kMostOfIt.Holds(most->second / whole)) return "";
  return IsNamed(most->first) ? most->first : "";
}

/// The section that holds most of the blocked time even if all the time in which owners were not blocked was in it.
std::string SectionOfAllBlocked(const Measurement& measurement) {
  const double blocked = measurement.Metric("chunk_blocked").value_or(0);
  const double others = measurement.Metric("busy_time").value_or(0) - blocked;
  for (const SectionRow& row : measurement.sections) {
    const bool is_most = blocked > 0 && kMostOfIt.Holds((row.self.value_or(0) - others) / blocked);
    if (is_most && !row.helper.value_or(false) && IsNamed(row.path.str())) return row.path.str();
  }
  return "";
}

constexpr size_t kMostDatasets = 3;

std::string LatencyLine(const EventLatencyRow& row) {
  const double latency = row.latency_seconds.value_or(0);
  std::string line = "Latency: ";
  if (row.p50_seconds.has_value()) {
    line += fmt::format("median {}, 95 % {}, ", HumanDuration(*row.p50_seconds),
                        HumanDuration(row.p95_seconds.value_or(0)));
  }
  line += fmt::format("longest {}.", HumanDuration(row.max_seconds.value_or(0)));
  if (latency <= 0) return line;
  const auto share = [&](const Number& part) { return HumanPercent(part.value_or(0) / latency); };
  return line + fmt::format(" At work {}, queued {}, external {}, nothing ready {}.", share(row.active_seconds),
                            share(row.queued_seconds), share(row.external_seconds), share(row.rest_seconds));
}

}  // namespace

bool NamesIt(std::string_view sentence, std::string_view name) {
  const std::string shown = ShortName(name);
  for (size_t at = sentence.find(shown); at != std::string_view::npos; at = sentence.find(shown, at + 1)) {
    const bool begins = at == 0 || sentence[at - 1] == ' ' || sentence[at - 1] == '(';
    if (begins && !IsOfName(sentence, at + shown.size())) return true;
  }
  return false;
}

std::string ShortName(std::string_view name) {
  if (name.empty()) return "(none)";
  if (name.size() <= kMostBytes) return std::string(name);
  size_t begin = name.size() - kMostBytes;
  while (begin < name.size() && ContinuesCharacter(name[begin])) ++begin;
  // rather a whole component than half of one
  const size_t slash = name.find('/', begin);
  if (slash != std::string_view::npos && slash + 1 < name.size()) begin = slash;
  return "…" + std::string(name.substr(begin));
}

bool IsKnownWait(std::string_view kind) { return WordsOf(kind) != nullptr; }

std::vector<WaitShare> WaitShares(const Measurement& measurement) {
  double whole = 0;
  double known = 0;
  struct Sum {
    double seconds = 0;
    double variance = 0;
    std::map<std::string, double> objects;
    std::map<std::string, double> functions;
  };
  std::map<std::string, Sum> kinds;
  for (const WaitSumRow& row : measurement.waits) {
    const double seconds = row.seconds.value_or(0);
    whole += seconds;
    if (row.coarse.value_or(false) || !row.low.has_value()) continue;
    known += seconds;
    Sum& sum = kinds[row.kind.str()];
    sum.seconds += seconds;
    const double share = row.share.value_or(0);
    const double of_dataset = share > 0 ? seconds / share : 0;
    const double error = (row.high.value_or(1) - *row.low) / 2 * of_dataset;
    sum.variance += error * error;
    sum.objects[row.object.str()] += seconds;
    sum.functions[row.function.str()] += seconds;
  }
  std::vector<WaitShare> shares;
  if (whole <= 0 || !kMostOfIt.Holds(known / whole)) return shares;
  for (const auto& [kind, sum] : kinds) {
    WaitShare share = {kind, "", 0, "", 0, sum.seconds / whole, std::sqrt(sum.variance) / whole, known < whole};
    const auto find_most = [whole = sum.seconds](const auto& sums, std::string* name, double* share_of_most) {
      for (const auto& [key, seconds] : sums) {
        if (key.empty() || !kMostOfIt.Holds(seconds / whole)) continue;
        *name = key;
        *share_of_most = seconds / whole;
      }
    };
    find_most(sum.objects, &share.object, &share.object_share);
    find_most(sum.functions, &share.function, &share.function_share);
    shares.push_back(std::move(share));
  }
  SortLargestFirst(&shares, &WaitShare::share);
  return shares;
}

std::string WaitWords(const Measurement& measurement) {
  constexpr size_t kMostKinds = 2;
  std::string text;
  size_t named = 0;
  for (const WaitShare& wait : WaitShares(measurement)) {
    const KindWords* const words = WordsOf(wait.kind);
    if (words == nullptr || !kWaitWorthNaming.Holds(wait.share) || !kWaitIsSure.Holds(wait.error)) continue;
    if (named == kMostKinds) break;
    std::string what(words->words);
    if (kNearlyAllOfIt.Holds(wait.object_share)) {
      what = fmt::format(fmt::runtime(words->words_with_object), ObjectWords(wait.object, wait.kind));
    } else if (!wait.object.empty()) {
      what += fmt::format(", mostly {}", ObjectWords(wait.object, wait.kind));
    }
    if (!wait.function.empty()) {
      const bool is_nearly_all = kNearlyAllOfIt.Holds(wait.function_share);
      what += fmt::format("{} in {}", is_nearly_all ? "" : ", mostly", ShortName(wait.function));
    }
    text += fmt::format(
        "{}{}{} {}{}", text.empty() ? "" : ", ", ShareWords(wait), named++ == 0 ? " of the blocked time" : "", what,
        IsForThread(wait.kind) && OthersWorked(measurement) ? ", while threads without guards worked" : "");
  }
  return text;
}

CommonWaits WaitsInCommon(const Measurement& measurement) {
  const double busy = measurement.Metric("busy_time").value_or(0);
  const double blocked = busy > 0 ? measurement.Metric("chunk_blocked").value_or(0) / busy : 0;
  const std::vector<WaitShare> shares = WaitShares(measurement);
  const double known =
      SumOf<double>(shares, [](const WaitShare& wait) { return IsKnownWait(wait.kind) ? wait.share : 0; });
  CommonWaits waits = {
      "", 0, !kWaitForOthersMatters.Holds(blocked * (1 - known)),
      measurement.HasWaitingFunctions() ? kTooFewSamples : "crema run --waits shows what was waited for."};
  for (const WaitShare& wait : shares) {
    const bool is_of_one = kNearlyAllOfIt.Holds(wait.object_share) && (wait.kind == "network" || wait.object == kPipe);
    const bool is_for_others = is_of_one || (IsForThread(wait.kind) && !OthersWorked(measurement));
    if (!is_for_others || !kWaitForOthersMatters.Holds(wait.share * blocked)) continue;
    const KindWords& words = *WordsOf(wait.kind);
    waits.words = kNearlyAllOfIt.Holds(wait.object_share)
                      ? fmt::format(fmt::runtime(words.words_with_object), ObjectWords(wait.object, wait.kind))
                      : std::string(words.words);
    waits.share = wait.share * blocked;
    break;
  }
  return waits;
}

std::string WaitAdvice(const Measurement& measurement) {
  const std::vector<WaitShare> shares = WaitShares(measurement);
  if (shares.empty() && measurement.quality.processes_without_waits.has_value())
    return "crema show --table quality says why it is not known what threads waited for. Sections show where.";
  const bool is_sure = !shares.empty() && IsKnownWait(shares[0].kind) && kWaitIsSure.Holds(shares[0].error);
  if (!is_sure || !kMostOfIt.Holds(shares[0].share)) {
    if (!measurement.HasWaitingFunctions()) return "";
    return is_sure ? "crema show --table waits lists what threads waited for."
                   : std::string(kTooFewSamples) + " Sections show where.";
  }
  if (shares[0].object == kPipe && kNearlyAllOfIt.Holds(shares[0].object_share))
    return "Another thread or program is at the other end of the pipe: look at that one.";
  const KindWords* const words = WordsOf(shares[0].kind);
  std::string advice(words == nullptr ? "" : words->advice);
  if (shares[0].kind != "lock or condition") return advice;
  if (shares[0].function.empty()) return advice + " crema run --waits shows in which function, and who holds a lock.";
  return advice + " crema run --waits shows who holds a lock.";
}

std::string QuotaThatHeldBack(const Measurement& measurement) {
  const double throttled = measurement.Metric("throttled_time").value_or(0);
  const BudgetRow* cpu_wait = FindBy(measurement.budget, &BudgetRow::part, "cpu_wait");
  const double of_budget = cpu_wait == nullptr ? 0 : cpu_wait->core_seconds.value_or(0);
  const double waited = std::max(of_budget, measurement.Metric("lane_cpu_wait").value_or(0));
  if (throttled <= 0 || !kMostOfIt.Holds(throttled / std::max(waited, throttled))) return "";
  const WorkerRow* most =
      LargestBy(measurement.workers, [](const WorkerRow& worker) { return worker.throttled.value_or(0); }).first;
  std::string quota = "a CPU quota";
  const double cores = most == nullptr ? 0 : most->allowed_cores.value_or(0);
  // A whole number may be that of the CPUs to which it is bound.
  const bool is_quota = cores != std::floor(cores) || measurement.run.allocated_cores_source.str() == "cgroup";
  if (cores > 0 && is_quota)
    quota = fmt::format("the quota of {} {}", HumanNumber(cores), cores == 1 ? "core" : "cores");
  return fmt::format("{} held them back for {}", quota, HumanDuration(throttled));
}

std::string MostWaiting(const Measurement& measurement, Waiting waiting) {
  const auto core_seconds = [&measurement](std::string_view part) {
    const BudgetRow* const row = FindBy(measurement.budget, &BudgetRow::part, part);
    return row == nullptr ? 0 : row->core_seconds.value_or(0);
  };
  const double blocked = core_seconds("blocked") + core_seconds("waiting"), cpu_wait = core_seconds("cpu_wait");
  const bool is_blocked = waiting == Waiting::kBlocked || blocked >= cpu_wait;  // else that says nothing of most of it
  std::string text;
  std::string section = SectionOfMostWaiting(measurement, blocked + cpu_wait);
  if (section.empty() && is_blocked) section = SectionOfAllBlocked(measurement);
  if (!section.empty()) text += "in section " + ShortName(section);
  if (const std::string dataset = HolderOfMost(measurement.datasets, waiting); !dataset.empty()) {
    text += (text.empty() ? "" : ", ") + ("of dataset " + ShortName(dataset));
  }
  if (const std::string worker = HolderOfMost(measurement.workers, waiting); !worker.empty()) {
    text += (text.empty() ? "" : ", ") + ("on " + ShortName(worker));
  }
  std::string waits = is_blocked ? WaitWords(measurement) : "";
  if (text.empty()) return waits;
  return (waits.empty() ? "" : waits + "; ") + "most of it " + text;
}

std::string WhereMostWaiting(const Measurement& measurement, Waiting waiting) {
  const std::string text = MostWaiting(measurement, waiting);
  return text.empty() ? "" : " (" + text + ")";
}

std::vector<std::string> EventLines(const Measurement& measurement) {
  std::vector<std::string> lines;
  for (const EventLatencyRow& row : measurement.events) {
    if (lines.size() == 2 * kMostDatasets) break;
    const bool is_named = measurement.events.size() > 1 && row.dataset.has_value();
    std::string line = (is_named ? ShortName(row.dataset.str()) + ": " : "") +
                       fmt::format("{} events, {}/s, {:.2f} in flight", HumanCount(row.events.value_or(0)),
                                   HumanCount(row.events_per_second.value_or(0)), row.in_flight.value_or(0));
    if (row.parallel.has_value()) line += fmt::format("; {:.2f} tasks at once while at work", *row.parallel);
    lines.push_back(line + ".");
    lines.push_back(LatencyLine(row));
  }
  return lines;
}

}  // namespace crema
