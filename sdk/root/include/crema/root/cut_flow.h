// CutFlow: how many events of a chunk passed a frame's named filters.
#ifndef CREMA_ROOT_CUT_FLOW_H_
#define CREMA_ROOT_CUT_FLOW_H_

#include <ROOT/RDF/GraphNode.hxx>
#include <ROOT/RDF/RFilterBase.hxx>
#include <ROOT/RDF/RLoopManager.hxx>
#include <ROOT/RDF/Utils.hxx>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "crema/record_cut.h"
#include "crema/root/requirements.h"  // IWYU pragma: keep

namespace crema::internal {

/// What the cut flow of an event loop is called: `ttbar`, and for the third loop of the second frame of this dataset
/// `ttbar, frame 2, loop 3`.
class FlowNames {
 public:
  /// Numbers the frame when the program asks to track it: `RunGraphs` begins loops in any order.
  void Expect(const std::string& dataset, const std::string& pass) { FrameAndLoops(NameOf(dataset, pass)); }
  /// The next loop of this frame. `is_part`: the frame is a part of one that is distributed, which has one name.
  std::string Next(const std::string& dataset, const std::string& pass, bool is_part) {
    std::string name = NameOf(dataset, pass);
    if (is_part) return name;
    auto& [frame, loops] = FrameAndLoops(name);
    ++loops;
    if (frame > 1 || name.empty()) name += (name.empty() ? "frame " : ", frame ") + std::to_string(frame);
    return loops > 1 ? name + ", loop " + std::to_string(loops) : name;
  }

 private:
  static std::string NameOf(const std::string& dataset, const std::string& pass) {
    return dataset.empty() || pass.empty() ? dataset + pass : dataset + ", " + pass;
  }
  std::pair<int, int>& FrameAndLoops(const std::string& name) {
    auto known = loops_.find(name);
    if (known == loops_.end()) known = loops_.emplace(name, std::make_pair(NextFrame(name), 0)).first;
    return known->second;
  }
  static int NextFrame(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, int> frames;
    const std::lock_guard<std::mutex> lock(mutex);
    return ++frames[name];
  }

  std::map<std::string, std::pair<int, int>> loops_;  // by dataset and pass: the frame's number, its loops so far
};

/// The named filters of one event loop, each behind the one that it follows in the graph. ROOT counts what a filter let
/// pass and what it rejected by slot; a slot is its task's while the task runs.
class NamedFilters {
 public:
  using Filter = ROOT::Detail::RDF::RFilterBase;
  struct Counts {
    ULong64_t accepted = 0;
    ULong64_t rejected = 0;
  };
  static constexpr const char* kAll = "all events";

  /// Before the loop's tasks begin.
  void Find(const ROOT::Detail::RDF::RLoopManager& loop_manager, std::string flow) {
    flow_ = std::move(flow);
    std::vector<Filter*> booked;
    for (auto* node : loop_manager.GetGraphEdges()) {
      auto* filter = dynamic_cast<Filter*>(node);
      if (filter != nullptr && filter->HasName() && Hidden::IsNominal(*filter)) booked.push_back(filter);
    }
    filters_.clear();
    Append(booked, ParentsOf(booked), booked.size(), kAll);
  }
  std::size_t size() const { return filters_.size(); }
  const std::string& flow() const { return flow_; }
  const std::string& name(std::size_t filter) const { return filters_[filter].name; }
  const std::string& path(std::size_t filter) const { return filters_[filter].path; }
  Counts Of(std::size_t filter, unsigned slot) const {
    return Hidden::CountsOf(*filters_[filter].node, slot * ROOT::Internal::RDF::CacheLineStep<ULong64_t>());
  }

 private:
  /// ROOT keeps them for classes that derive from a filter. For each systematic variation (`Vary`) there is one more
  /// filter of the same name.
  struct Hidden : Filter {
    static Counts CountsOf(const Filter& filter, std::size_t at) {
      return {(filter.*(&Hidden::fAccepted))[at], (filter.*(&Hidden::fRejected))[at]};
    }
    static bool IsNominal(const Filter& filter) { return filter.*(&Hidden::fVariation) == "nominal"; }
  };
  struct Named {
    Filter* node;
    std::string name;
    std::string path;
  };

  /// For each the index of the named filter that it follows; their number: none. ROOT shows how nodes are connected
  /// only in the graph that it draws.
  static std::vector<std::size_t> ParentsOf(const std::vector<Filter*>& booked) {
    using Node = ROOT::Internal::RDF::GraphDrawing::GraphNode;
    std::vector<std::size_t> parents(booked.size(), booked.size());
    try {
      std::unordered_map<void*, std::shared_ptr<Node>> visited;
      std::vector<std::shared_ptr<Node>> nodes;
      std::unordered_map<const Node*, std::size_t> index;
      for (auto* filter : booked) {
        nodes.push_back(filter->GetGraph(visited));
        index.emplace(nodes.back().get(), nodes.size() - 1);
      }
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (const Node* node = nodes[i]->GetPrevNode(); node != nullptr; node = node->GetPrevNode()) {
          const auto found = index.find(node);
          if (found == index.end()) continue;
          parents[i] = found->second;
          break;
        }
      }
    } catch (const std::exception&) {  // the program's loop goes on; each filter has its own counts all the same
    }
    return parents;
  }
  /// The filters that follow `parent`, each with those that follow it.
  void Append(const std::vector<Filter*>& booked, const std::vector<std::size_t>& parents, std::size_t parent,
              const std::string& path) {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < booked.size(); ++i) {
      if (parents[i] != parent) continue;
      std::string name = booked[i]->GetName();
      std::string step;
      for (const char c : name) c == '/' ? step += "%2F" : step += c;
      const std::string first = step;
      for (int same = 2; !taken.insert(step).second; ++same) step = first + " (" + std::to_string(same) + ")";
      const std::string own_path = path + "/" + step;
      filters_.push_back({booked[i], std::move(name), own_path});
      Append(booked, parents, i, own_path);
    }
  }

  std::string flow_;
  std::vector<Named> filters_;
};

/// What filters saw and let pass during one chunk.
class CutFlow {
 public:
  void Begin(const NamedFilters& filters, unsigned slot) {
    before_.resize(filters.size());
    for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = filters.Of(i, slot);
  }
  /// Records it in the chunk of this thread.
  void End(const NamedFilters& filters, unsigned slot, std::int64_t events) const {
    if (before_.empty()) return;
    RecordCut(NamedFilters::kAll, events, {{}, events, filters.flow(), NamedFilters::kAll});
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const auto [accepted, rejected] = filters.Of(i, slot);
      const auto passed = static_cast<std::int64_t>(accepted - before_[i].accepted);
      const auto seen = passed + static_cast<std::int64_t>(rejected - before_[i].rejected);
      RecordCut(filters.name(i), passed, {{}, seen, filters.flow(), filters.path(i)});
    }
  }

 private:
  std::vector<NamedFilters::Counts> before_;
};

}  // namespace crema::internal

#endif  // CREMA_ROOT_CUT_FLOW_H_
