// PluginClasses: the site's plugins as the scheduler's stages meet them. What they say is remembered for each class of jobs, node by node, as
// long as nothing has changed of the node that they look at; so a class is asked about once, in one call for all nodes.
// Owned by a ClusterIndex and the demands made on it; not thread-safe. Without plugins there are no classes, and nothing is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/place/devices.h"
#include "core/sched/place/placement.h"
#include "model/policy/sched_plugins.h"

namespace ares::core::sched {

// What the plugins that filter and score say of one class of jobs in one partition, by node.
class PluginClass {
 public:
  // `leaves`: names by NodeIndex, or empty. Both outlive it.
  PluginClass(std::shared_ptr<const SchedPlugins> plugins, Job example, const Partition& partition,
              const std::vector<std::string>& leaves);

  // Whether what they say may change with what is free. Then nobody may conclude from earlier passes, or from counts.
  bool depends_on_free() const { return depends_on_free_; }

  // Those of `nodes` that no plugin refuses, behind what `out` holds already. Scores of these are known then.
  void filter(std::span<const NodeIndex> nodes, GpusOf state, const ClusterIndex& index,
              std::vector<NodeIndex>& out);
  // Sum over the plugins, higher is better. Precondition: keep() let it pass in that state.
  std::int64_t score(NodeIndex node, GpusOf state) const;

  // "plugin min_nvlink refuses 12 nodes: its words; plugin b refuses 1 node", of these nodes; empty if none is refused. With `words`
  // plugins are asked again.
  std::string refusals(std::span<const NodeIndex> nodes, GpusOf state, const ClusterIndex& index,
                       bool words);

 private:
  struct Answers {                       // by node
    std::vector<std::uint32_t> stamps;   // of the node when it was asked about; 0 = never
    std::vector<std::uint8_t> refusers;  // the first plugin that refuses; kNobody
    std::vector<std::int64_t> scores;    // empty where nobody scores
  };
  Answers& answers(GpusOf state) {
    return state == GpusOf::node || !depends_on_free_ ? empty_ : now_;
  }
  const Answers& answers(GpusOf state) const {
    return state == GpusOf::node || !depends_on_free_ ? empty_ : now_;
  }
  PluginNode node_view(NodeIndex node, GpusOf state, const ClusterIndex& index) const;
  void ask_plugins(std::span<const NodeIndex> nodes, GpusOf state, const ClusterIndex& index);
  PluginJob job() const { return {&example_, partition_}; }

  std::shared_ptr<const SchedPlugins> plugins_;
  Job example_;
  const Partition* partition_;
  const std::vector<std::string>& leaves_;
  std::vector<std::size_t> filters_, scorers_;
  bool depends_on_free_ = false;
  Answers now_, empty_;
  std::vector<NodeIndex> unknown_;  // to reckon in
};

// A job that is to start, and where.
struct ProposedStart {
  const Job* job = nullptr;
  TaskIndex task{};  // of an array
  const Partition* partition = nullptr;
  const Placement* placement = nullptr;
};

class PluginClasses {
 public:
  PluginClasses() = default;
  // `networks`: where leaves have their names; null: none is known. Must outlive it, as must the index.
  PluginClasses(SharedPlugins plugins, const Networks* networks, const ClusterIndex& index);

  bool any() const { return plugins_.value != nullptr; }

  // Whether two jobs of one demand are the same to the plugins that filter and score in the partition; a hash to find that out by.
  bool same_class(const Job& a, const Job& b, const Partition& partition) const;
  std::size_t class_hash(const Job& job, const Partition& partition) const;
  // Null: no plugin filters or scores there.
  std::shared_ptr<PluginClass> class_of(const Job& example, const Partition& partition) const;

  bool permits(const Partition& partition) const;
  // Whether all of these may start together: nothing, or the refusal in words that name the plugin. The index is left as it was.
  std::optional<std::string> refusal(std::span<const ProposedStart> group,
                                     ClusterIndex& index) const;

 private:
  PluginLooks looks_at(const Partition& partition) const;
  const std::vector<std::string>& leaves(const Partition& partition) const;

  SharedPlugins plugins_;
  std::map<std::string, std::vector<std::string>> leaves_;  // of each network, by NodeIndex
};

// The plugins that the index, and demands made on it from now on, ask.
void set_plugins(ClusterIndex& index, const SharedPlugins& plugins, const Networks* networks);

}  // namespace ares::core::sched
