// PluginClasses: adapts the site's plugins to the stages of the scheduler. The answers of plugins
// are cached per class of jobs and node until the node changes, so that plugins are called once for
// a class, with all nodes in one call.
// Owned by a ClusterIndex and the demands made on it; not thread-safe. Without plugins there are no
// classes, and nothing is computed.
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

// Answers of the plugins that filter and score, for one class of jobs in one partition, by node.
class PluginClass {
 public:
  // `leaves`: names of leaf switches by NodeIndex, or empty. Both references must outlive the
  // object.
  PluginClass(std::shared_ptr<const SchedPlugins> plugins, Job example, const Partition& partition,
              const std::vector<std::string>& leaves);

  // Whether the answers may change with free amounts. Then no conclusion may be drawn from earlier
  // passes or from counts of tasks.
  bool depends_on_free() const { return depends_on_free_; }

  // Appends to `out` those of `nodes` that no plugin refuses. Their scores are known afterwards.
  void filter(std::span<const NodeIndex> nodes, GpusOf state, const ClusterIndex& index,
              std::vector<NodeIndex>& out);
  // Sum over the plugins; higher is better. Precondition: filter() accepted the node in that state.
  std::int64_t score(NodeIndex node, GpusOf state) const;

  // Text about the refused nodes of `nodes`, such as "plugin min_nvlink refuses 12 nodes: its
  // words; plugin b refuses 1 node"; empty if none is refused. With `words` the plugins are called
  // again for their texts.
  std::string refusals(std::span<const NodeIndex> nodes, GpusOf state, const ClusterIndex& index,
                       bool words);

 private:
  struct Answers {  // by NodeIndex
    // Stamp of the node when the plugins were called; 0: never.
    std::vector<std::uint32_t> stamps;
    // The first plugin that refuses the node, or kNobody.
    std::vector<std::uint8_t> refusers;
    // Empty if no plugin scores.
    std::vector<std::int64_t> scores;
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
  std::vector<NodeIndex> unknown_;  // scratch list
};

// A job that is to start, and its placement.
struct ProposedStart {
  const Job* job = nullptr;
  TaskIndex task{};  // for an array
  const Partition* partition = nullptr;
  const Placement* placement = nullptr;
};

class PluginClasses {
 public:
  PluginClasses() = default;
  // `networks`: source of the leaf names; null: not known. The networks and the index must outlive
  // the object.
  PluginClasses(SharedPlugins plugins, const Networks* networks, const ClusterIndex& index);

  bool any() const { return plugins_.value != nullptr; }

  // Whether two jobs of the same demand are alike for the plugins that filter and score in the
  // partition, and a hash for look-up.
  bool same_class(const Job& a, const Job& b, const Partition& partition) const;
  std::size_t class_hash(const Job& job, const Partition& partition) const;
  // Null: no plugin filters or scores there.
  std::shared_ptr<PluginClass> class_of(const Job& example, const Partition& partition) const;

  bool permits(const Partition& partition) const;
  // The reason why the jobs may not start together, with the name of the plugin that refuses;
  // nothing if they may. The index is left unchanged.
  std::optional<std::string> refusal(std::span<const ProposedStart> group,
                                     ClusterIndex& index) const;

 private:
  PluginLooks looks_at(const Partition& partition) const;
  const std::vector<std::string>& leaves(const Partition& partition) const;

  SharedPlugins plugins_;
  std::map<std::string, std::vector<std::string>> leaves_;  // by network; by NodeIndex
};

// Sets the plugins that the index, and demands made on it from now on, use.
void set_plugins(ClusterIndex& index, const SharedPlugins& plugins, const Networks* networks);

}  // namespace ares::core::sched
