#include "core/sched/place/plugin_classes.h"

#include <algorithm>

#include "base/saturating.h"
#include "core/cluster/time_limit.h"
#include "core/sched/index/demand.h"

namespace ares::core::sched {
namespace {

constexpr std::uint8_t kNobody = 0xff;
const std::vector<std::string> kNoLeaves;

bool concerns(const PluginFacts& plugin, const Partition& partition) {
  return plugin.partitions.empty() || std::find(plugin.partitions.begin(), plugin.partitions.end(),
                                                partition.name) != plugin.partitions.end();
}

std::string refusal_text(const std::string& plugin, const std::string& words) {
  return "plugin " + plugin + ": " + (words.empty() ? "refused" : words);
}

void mix(std::size_t& seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2);
}

const std::string* leaf_of(const std::vector<std::string>& leaves, NodeIndex node) {
  return node < leaves.size() && !leaves[node].empty() ? &leaves[node] : nullptr;
}

// Of CPUs that a node counts in thousandths plugins get the whole ones.
PluginNode view_of(const IndexedNode& node, GpusOf state, const std::string* leaf,
                   std::int64_t cpu_unit) {
  const Amounts& free = state == GpusOf::node ? node.total : node.free;
  PluginNode out{node.node, &inventory_of(*node.node), free[kCpus] / cpu_unit, free[kMemory], {},
                 leaf};
  if (state == GpusOf::free_now) out.gpus_used = node.gpus_used;
  return out;
}

}  // namespace

PluginClass::PluginClass(std::shared_ptr<const SchedPlugins> plugins, Job example,
                         const Partition& partition, const std::vector<std::string>& leaves)
    : plugins_(std::move(plugins)),
      example_(std::move(example)),
      partition_(&partition),
      leaves_(leaves) {
  const std::vector<PluginFacts>& all = plugins_->facts();
  for (std::size_t i = 0; i < all.size() && i < kNobody; ++i) {
    if (!concerns(all[i], partition)) continue;
    if (all[i].filters) filters_.push_back(i);
    if (all[i].scores) scorers_.push_back(i);
    if (all[i].filters || all[i].scores)
      depends_on_free_ = depends_on_free_ || looks(all[i].looks_at, PluginLook::node_free);
  }
}

// Plugins that do not depend on free amounts get the view of empty nodes, so that their answers
// stay valid as long as the class.
PluginNode PluginClass::node_view(NodeIndex node, GpusOf state, const ClusterIndex& index) const {
  return view_of(index.nodes()[node], depends_on_free_ ? state : GpusOf::node,
                 leaf_of(leaves_, node), index.cpu_unit());
}

void PluginClass::ask_plugins(std::span<const NodeIndex> nodes, GpusOf state,
                              const ClusterIndex& index) {
  Answers& known = answers(state);
  std::vector<NodeIndex> left(nodes.begin(), nodes.end());
  std::vector<PluginNode> rows;
  for (const NodeIndex at : left) {
    rows.push_back(node_view(at, state, index));
    known.refusers[at] = kNobody;
  }
  for (const std::size_t plugin : filters_) {
    if (left.empty()) break;
    Bitset allowed(left.size(), true);
    plugins_->filter(plugin, job(), rows, allowed, nullptr);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!allowed.test(i)) {
        known.refusers[left[i]] = static_cast<std::uint8_t>(plugin);
        continue;
      }
      left[kept] = left[i];
      rows[kept++] = rows[i];
    }
    left.resize(kept);
    rows.resize(kept);
  }
  if (left.empty()) return;
  std::vector<std::int64_t> scores(left.size());
  for (const NodeIndex at : left)
    if (!scorers_.empty()) known.scores[at] = 0;
  for (const std::size_t plugin : scorers_) {
    std::fill(scores.begin(), scores.end(), 0);
    plugins_->score(plugin, job(), rows, scores);
    for (std::size_t i = 0; i < left.size(); ++i)
      known.scores[left[i]] = capped_sum(known.scores[left[i]], scores[i]);
  }
}

void PluginClass::filter(std::span<const NodeIndex> nodes, GpusOf state, const ClusterIndex& index,
                         std::vector<NodeIndex>& out) {
  Answers& known = answers(state);
  if (known.stamps.empty()) {
    known.stamps.assign(index.nodes().size(), 0);
    known.refusers.assign(index.nodes().size(), kNobody);
    if (!scorers_.empty()) known.scores.assign(index.nodes().size(), 0);
  }
  // For empty nodes an answer stays valid as long as the class.
  const auto stamp = [&](NodeIndex at) {
    return &known == &now_ ? index.nodes()[at].stamp : std::uint32_t{1};
  };
  unknown_.clear();
  for (const NodeIndex at : nodes)
    if (known.stamps[at] != stamp(at)) unknown_.push_back(at);
  if (!unknown_.empty()) ask_plugins(unknown_, state, index);
  for (const NodeIndex at : unknown_) known.stamps[at] = stamp(at);
  for (const NodeIndex at : nodes)
    if (known.refusers[at] == kNobody) out.push_back(at);
}

std::int64_t PluginClass::score(NodeIndex node, GpusOf state) const {
  const Answers& known = answers(state);
  return known.scores.empty() ? 0 : known.scores[node];
}

std::string PluginClass::refusals(std::span<const NodeIndex> nodes, GpusOf state,
                                  const ClusterIndex& index, bool words) {
  std::vector<NodeIndex> kept;
  filter(nodes, state, index, kept);
  const Answers& known = answers(state);
  std::string text;
  for (const std::size_t plugin : filters_) {
    std::vector<PluginNode> refused;
    for (const NodeIndex at : nodes)
      if (known.refusers[at] == plugin) refused.push_back(node_view(at, state, index));
    if (refused.empty()) continue;
    text += (text.empty() ? "plugin " : "; plugin ") + plugins_->facts()[plugin].name +
            " refuses " + std::to_string(refused.size()) +
            (refused.size() == 1 ? " node" : " nodes");
    if (!words) continue;
    std::string why;
    Bitset allowed(refused.size(), true);
    plugins_->filter(plugin, job(), refused, allowed, &why);
    if (!why.empty()) text += ": " + why;
  }
  return text;
}

PluginClasses::PluginClasses(SharedPlugins plugins, const Networks* networks,
                             const ClusterIndex& index)
    : plugins_(std::move(plugins)) {
  if (!plugins_.value || !networks) return;
  for (const NetworkSpec& network : networks->all()) {
    std::vector<std::string>& names = leaves_[network.name];
    names.resize(index.nodes().size());
    const NetworkSpec made = network.is_by_features() ? index.described(network) : NetworkSpec{};
    for (const NetworkDomain& domain : (network.is_by_features() ? made : network).domains)
      for (const std::string& node : domain.nodes)
        if (const auto at = index.find(node)) names[*at] = domain.name;
  }
}

const std::vector<std::string>& PluginClasses::leaves(const Partition& partition) const {
  const auto found = leaves_.find(partition.topology);
  return found == leaves_.end() ? kNoLeaves : found->second;
}

PluginLooks PluginClasses::looks_at(const Partition& partition) const {
  PluginLooks all = 0;
  if (!any()) return all;
  for (const PluginFacts& plugin : plugins_.value->facts())
    if ((plugin.filters || plugin.scores) && concerns(plugin, partition)) all |= plugin.looks_at;
  return all;
}

bool PluginClasses::same_class(const Job& a, const Job& b, const Partition& partition) const {
  const PluginLooks all = looks_at(partition);
  const JobSpec &x = *a.spec, &y = *b.spec;
  const auto same = [&](PluginLook look, bool equal) { return !looks(all, look) || equal; };
  return same(PluginLook::user, x.uid == y.uid && x.user == y.user) &&
         same(PluginLook::account, x.account == y.account) &&
         same(PluginLook::qos, x.qos == y.qos) && same(PluginLook::name, x.name == y.name) &&
         same(PluginLook::comment, x.comment == y.comment) &&
         same(PluginLook::job_id, a.key == b.key) &&
         same(PluginLook::time_limit, time_limit_of(a, partition) == time_limit_of(b, partition));
}

std::size_t PluginClasses::class_hash(const Job& job, const Partition& partition) const {
  const PluginLooks all = looks_at(partition);
  std::size_t seed = 0;
  const auto add = [&](PluginLook look, const std::string& text) {
    if (looks(all, look)) mix(seed, std::hash<std::string>{}(text));
  };
  add(PluginLook::account, job.spec->account);
  add(PluginLook::name, job.spec->name);
  add(PluginLook::comment, job.spec->comment);
  if (looks(all, PluginLook::user)) mix(seed, job.spec->uid.value());
  if (looks(all, PluginLook::job_id)) mix(seed, job.key.job.value());
  return seed;
}

std::shared_ptr<PluginClass> PluginClasses::class_of(const Job& example,
                                                     const Partition& partition) const {
  if (!any()) return nullptr;
  for (const PluginFacts& plugin : plugins_.value->facts())
    if ((plugin.filters || plugin.scores) && concerns(plugin, partition))
      return std::make_shared<PluginClass>(plugins_.value, example, partition, leaves(partition));
  return nullptr;
}

bool PluginClasses::permits(const Partition& partition) const {
  if (!any()) return false;
  const auto& all = plugins_.value->facts();
  return std::any_of(all.begin(), all.end(), [&](const PluginFacts& plugin) {
    return plugin.permits && concerns(plugin, partition);
  });
}

namespace {

// What one job of a group would get, and the data that its placement points to.
struct Offered {
  Job job;
  std::vector<NodeShare> shares;
  std::vector<std::vector<GpuIndex>> gpus_used;
  std::vector<PluginNode> nodes;
};

// Allocates the share of each job in turn, so that the next one sees it. The index is restored at
// the end.
std::vector<Offered> propose(std::span<const ProposedStart> group, ClusterIndex& index,
                             const std::vector<const std::vector<std::string>*>& leaves) {
  std::vector<Offered> out(group.size());
  std::vector<std::pair<NodeIndex, IndexedNode>> before;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const ProposedStart& proposed = group[i];
    out[i].job = *proposed.job;
    if (!proposed.task.is_none()) out[i].job.key.task = proposed.task;
    for (const PlacedShare& share : *proposed.placement) {
      IndexedNode& node = index.nodes()[share.node];
      before.emplace_back(share.node, node);
      out[i].nodes.push_back(
          view_of(node, GpusOf::free_now, leaf_of(*leaves[i], share.node), index.cpu_unit()));
      out[i].gpus_used.push_back(node.gpus_used);
      out[i].shares.push_back(
          choose_devices(node, share, proposed.job->spec->gpu_constraint, index));
    }
    for (std::size_t n = 0; n < out[i].nodes.size(); ++n)
      out[i].nodes[n].gpus_used = out[i].gpus_used[n];
  }
  // Restored in reverse order, so that a node that several jobs use gets its first state.
  for (auto saved = before.rbegin(); saved != before.rend(); ++saved)
    index.nodes()[saved->first] = std::move(saved->second);
  return out;
}

}  // namespace

std::optional<std::string> PluginClasses::refusal(std::span<const ProposedStart> group,
                                                  ClusterIndex& index) const {
  if (!any()) return std::nullopt;
  std::vector<const std::vector<std::string>*> of_partition;
  for (const ProposedStart& proposed : group) of_partition.push_back(&leaves(*proposed.partition));
  // Made for the first plugin that needs it.
  std::optional<std::vector<Offered>> offered;
  const auto& all = plugins_.value->facts();
  for (std::size_t plugin = 0; plugin < all.size(); ++plugin) {
    if (!all[plugin].permits) continue;
    std::vector<PluginPlacement> placements;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (!concerns(all[plugin], *group[i].partition)) continue;
      if (!offered) offered = propose(group, index, of_partition);
      Offered& one = (*offered)[i];
      placements.push_back({{&one.job, group[i].partition}, one.shares, one.nodes});
    }
    std::string why;
    if (!placements.empty() && !plugins_.value->permit(plugin, placements, why))
      return refusal_text(all[plugin].name, why);
  }
  return std::nullopt;
}

void set_plugins(ClusterIndex& index, const SharedPlugins& plugins, const Networks* networks) {
  index.set_plugin_classes(
      plugins.value ? std::make_shared<const PluginClasses>(plugins, networks, index) : nullptr);
}

}  // namespace ares::core::sched
