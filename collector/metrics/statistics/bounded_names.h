// Tables of names that never grow beyond a limit (`GroupedSums`), and the hash that decides which names they keep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "collector/idioms/sequences.h"

namespace crema {

/// A 64-bit hash that is the same in every process and on every day, so that parts read apart can be merged. Takes
/// fields one after another; a text's length is part of it, so ("ab", "c") differs from ("a", "bc"). Not for hostile
/// input. The mixing is that of splitmix64 (Steele, Lea, Flood: OOPSLA 2014), one round for 8 bytes.
class StableHash {
 public:
  StableHash& Add(uint64_t value) {
    state_ = Mix(state_ ^ Mix(value + kStep));
    return *this;
  }
  StableHash& Add(int64_t value) { return Add(static_cast<uint64_t>(value)); }
  StableHash& Add(std::string_view text) {
    Add(static_cast<uint64_t>(text.size()));
    while (!text.empty()) {
      uint64_t word = 0;
      const size_t bytes = text.size() < sizeof(word) ? text.size() : sizeof(word);
      std::memcpy(&word, text.data(), bytes);
      state_ = Mix(state_ ^ word);
      text.remove_prefix(bytes);
    }
    return *this;
  }
  uint64_t value() const { return state_; }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  static uint64_t Mix(uint64_t z) {
    z += kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_ = 0;
};

inline uint64_t HashOf(std::string_view text) { return StableHash().Add(text).value(); }

/// What stands for names that found no room.
inline constexpr std::string_view kOtherName = "(other)";
/// What stands for a dataset or file that a chunk did not name.
inline constexpr std::string_view kNoName = "(none)";

/// What pruning did to the indices of a table's names. It knows how many names are left, so nobody has to ask the table
/// for it at the right moment.
class Renumbering {
 public:
  static constexpr uint32_t kRefused = 0xffffffff;

  /// `new_indices`: by old index; `kRefused` for a name that is gone. `kept`: how many names are left.
  Renumbering(std::vector<uint32_t> new_indices, size_t kept) : new_indices_(std::move(new_indices)), kept_(kept) {}

  /// The new index, or `kRefused` for a name that is gone, or was refused before.
  uint32_t operator[](uint32_t old_index) const { return old_index == kRefused ? kRefused : new_indices_[old_index]; }
  /// How many names there were, and are left.
  size_t size() const { return new_indices_.size(); }
  size_t kept() const { return kept_; }

  /// Moves values kept by index to their new places; those of names that are gone go to `on_refused(value)`. Names
  /// without a value yet get a default one.
  template <class T, class OnRefused>
  void Apply(std::vector<T>& values, const OnRefused& on_refused) const {
    std::vector<T> moved(kept_);
    for (uint32_t i = 0; i < values.size(); ++i) {
      if (const uint32_t index = (*this)[i]; index == kRefused) {
        on_refused(values[i]);
      } else {
        moved[index] = std::move(values[i]);
      }
    }
    values = std::move(moved);
  }

  /// The same where several old names may have become one: values are added to default ones by `add(to, from)`.
  template <class T, class Add>
  void ApplySumming(std::vector<T>& values, const Add& add) const {
    std::vector<T> sums(kept_);
    for (uint32_t i = 0; i < values.size(); ++i) add(sums[(*this)[i]], values[i]);
    values = std::move(sums);
  }

 private:
  std::vector<uint32_t> new_indices_;
  size_t kept_;
};

/// Keeps the `limit` names that rank first, by (rank, name); rank is the caller's, usually a hash. What ranks too low
/// is refused for ever, so what was summed for a name that is kept at the end is complete, however the records were
/// split.
///
/// Names have indices from 0. To spare work, up to twice the limit are held between calls of `Prune`, which the owner
/// calls when `full()` and once at the end; it applies the returned renumbering to whatever it keeps by index.
class BoundedNames {
 public:
  static constexpr uint32_t kRefused = Renumbering::kRefused;

  explicit BoundedNames(size_t limit) : limit_(limit) {}

  /// The name's index, new or old, or `kRefused`.
  uint32_t Intern(std::string_view name, uint64_t rank);
  /// Interns all names of another table: their indices here, by those there.
  std::vector<uint32_t> Take(const BoundedNames& other) {
    return Mapped<uint32_t>(other.names_, [this](const Name& name) { return Intern(name.name, name.rank); });
  }

  size_t size() const { return names_.size(); }
  const std::string& name(uint32_t index) const { return names_[index].name; }
  uint64_t rank(uint32_t index) const { return names_[index].rank; }
  bool full() const { return names_.size() >= 2 * limit_; }

  /// Drops names beyond the limit.
  Renumbering Prune();
  /// Drops names beyond the limit and puts the others in order of name.
  Renumbering PruneAndSort();

 private:
  struct Name {
    uint64_t rank;
    std::string name;
    bool operator<(const Name& other) const { return std::tie(rank, name) < std::tie(other.rank, other.name); }
  };
  template <class Less>
  Renumbering Keep(const Less& less);

  size_t limit_;
  std::vector<Name> names_;
  absl::flat_hash_map<std::string, uint32_t> index_;
  bool has_worst_ = false;
  Name worst_ = {};  // the last of the names kept by the latest pruning: nothing after it is taken
};

/// Like `BoundedNames`, but it refuses no name. The first byte of each says what it is: `kOrdinary`, or a stand-in, of
/// which `kLast` stands for all others. Stand-ins rank first, so that which names are kept, and what is summed for
/// them, is the same for any split of the records and any order of merging.
class NamesWithOther {
 public:
  static constexpr char kLast = '0';
  static constexpr char kStandIn = '1';
  static constexpr char kOrdinary = '2';
  /// What stands for a name: one whose first byte is less. It is not asked for `kLast`, of which there must be few.
  using StandInOf = std::string (*)(std::string_view name);

  NamesWithOther(size_t limit, StandInOf stand_in_of) : names_(limit), limit_(limit), stand_in_of_(stand_in_of) {}

  /// The index of the name, or of what stands for it.
  uint32_t Intern(std::string_view name);
  /// As that of `BoundedNames`.
  std::vector<uint32_t> Take(const NamesWithOther& other) {
    std::vector<uint32_t> here;
    for (uint32_t i = 0; i < other.size(); ++i) here.push_back(Intern(other.name(i)));
    return here;
  }

  size_t size() const { return names_.size(); }
  const std::string& name(uint32_t index) const { return names_.name(index); }
  bool full() const { return names_.full(); }

  /// Drops names beyond the limit. Those that are gone have the index of what stands for them: none is refused,
  /// and several may become one.
  Renumbering Prune();

 private:
  BoundedNames names_;
  size_t limit_;
  StandInOf stand_in_of_;
};

/// A short cut to an index: comparing a name costs less than looking it up. A name may have two parts (name and unit).
class NamesByPosition {
 public:
  /// The name's index, or what `look_up()` says, which is remembered.
  template <class LookUp>
  uint32_t IndexOf(size_t position, std::string_view name, std::string_view second, const LookUp& look_up) {
    if (position < names_.size() && names_[position].name == name && names_[position].second == second) {
      return names_[position].index;
    }
    const uint32_t index = look_up();
    if (position >= kMostPositions) return index;
    Name& kept = GrownAt(&names_, position);
    kept.name.assign(name);
    kept.second.assign(second);
    return kept.index = index;
  }
  /// Indices have changed.
  void Clear() { names_.clear(); }

 private:
  static constexpr size_t kMostPositions = 1000;
  struct Name {
    std::string name;
    std::string second;
    uint32_t index = 0;
  };
  std::vector<Name> names_;
};

/// Several texts as one key. A text may hold any byte, so its length is before it.
inline std::string KeyOf(std::initializer_list<std::string_view> texts) {
  std::string key;
  for (const std::string_view text : texts) key.append(std::to_string(text.size())).append(":").append(text);
  return key;
}

/// Takes the first text off a key.
inline std::string_view TakeText(std::string_view* key) {
  const size_t colon = key->find(':');
  size_t length = 0;
  for (const char digit : key->substr(0, colon)) length = 10 * length + static_cast<size_t>(digit - '0');
  const std::string_view text = key->substr(colon + 1, length);
  key->remove_prefix(colon + 1 + length);
  return text;
}

/// Accumulator. `Sum` has a method `Add(const Sum&)`. Beyond `limit` keys some, always the same ones, are refused:
/// those that rank last. `Refused` keeps what is wanted of these; it can add a `Sum` and another `Refused`.
template <class Sum, class Refused = Sum, uint64_t (*kRankOf)(std::string_view) = HashOf>
class GroupedSums {
 public:
  explicit GroupedSums(size_t limit) : keys_(limit) {}

  void Add(std::string_view key, const Sum& sum) {
    if (Sum* kept = Find(key)) {
      kept->Add(sum);
    } else {
      Refuse(sum);
    }
    MakeRoom();
  }

  /// The sum of a key, for adding to it in place until the next call; nullptr: the key is refused, and the caller
  /// counts what it has. Call `MakeRoom` after a few of them.
  Sum* Find(std::string_view key) { return At(Intern(key)); }
  /// The same for `key()`, which is called only if `name` and `second` are not those of this position the last time.
  template <class Key>
  Sum* FindAt(size_t position, std::string_view name, std::string_view second, const Key& key) {
    return At(recent_.IndexOf(position, name, second, [&] { return Intern(key()); }));
  }
  void MakeRoom() {
    if (keys_.full()) Renumber(keys_.Prune());
  }

  void Merge(const GroupedSums& other) {
    Merge(other, [](const Sum& sum) -> const Sum& { return sum; });
  }
  /// `here(sum)`: a sum of the other, as it is here.
  template <class Here>
  void Merge(const GroupedSums& other, const Here& here) {
    refused_.Add(other.refused_);
    refusals_ += other.refusals_;
    for (uint32_t i = 0; i < other.keys_.size(); ++i) Add(other.keys_.name(i), here(other.sums_[i]));
  }

  /// Calls `visit(key, sum)` for each key that is kept, in their order; returns the sum of those that were refused.
  /// `refusals`: how many these were, of which each may be of several readings.
  template <class Visit>
  Refused Finalize(const Visit& visit, int64_t* refusals = nullptr) const& {
    return GroupedSums(*this).Finalize(visit, refusals);
  }
  /// The same without a copy; `visit` may take the sums.
  template <class Visit>
  Refused Finalize(const Visit& visit, int64_t* refusals = nullptr) && {
    Renumber(keys_.PruneAndSort());
    for (uint32_t i = 0; i < keys_.size(); ++i) visit(std::string_view(keys_.name(i)), std::move(sums_[i]));
    if (refusals != nullptr) *refusals = refusals_;
    return refused_;
  }

 private:
  uint32_t Intern(std::string_view key) {
    const uint32_t index = keys_.Intern(key, kRankOf(key));
    if (index != BoundedNames::kRefused) GrownAt(&sums_, index);
    return index;
  }
  Sum* At(uint32_t index) { return index == BoundedNames::kRefused ? nullptr : &sums_[index]; }
  void Renumber(const Renumbering& renumbering) {
    recent_.Clear();
    renumbering.Apply(sums_, [this](const Sum& refused) { Refuse(refused); });
  }
  void Refuse(const Sum& sum) {
    refused_.Add(sum);
    ++refusals_;
  }

  BoundedNames keys_;
  NamesByPosition recent_;
  std::vector<Sum> sums_;
  Refused refused_;
  int64_t refusals_ = 0;
};

}  // namespace crema
