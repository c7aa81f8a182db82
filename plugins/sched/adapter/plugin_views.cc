#include "sched/adapter/plugin_views.h"

#include <algorithm>
#include <optional>

#include "core/cluster/time_limit.h"
#include "core/topology/matrix/matrix.h"
#include "model/job/gpu_part.h"

namespace ares::sched {
namespace {

// Nodes that register again have new texts. Above this number of entries the cache is cleared.
constexpr std::size_t kMostLinks = 65'536;

std::uint64_t bytes(const std::optional<Bytes>& amount) {
  return amount ? static_cast<std::uint64_t>(std::max<std::int64_t>(amount->value(), 0)) : 0;
}

std::uint64_t amount(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

// Number of NVLinks between the GPUs at two positions of the inventory. Empty: the text cannot be
// parsed or lacks one of the GPUs.
std::vector<std::uint8_t> nvlinks_of(const Inventory& inventory) {
  const auto matrix = core::topology::parse_matrix(inventory.gpu_topology.text());
  if (!matrix) return {};
  std::vector<std::size_t> at;  // position in the matrix of each GPU
  for (const Gpu& gpu : inventory.gpus) {
    const auto found = std::find_if(matrix->gpus.begin(), matrix->gpus.end(),
                                    [&](const auto& g) { return g.number == gpu.index.value(); });
    if (found == matrix->gpus.end()) return {};
    at.push_back(static_cast<std::size_t>(found - matrix->gpus.begin()));
  }
  std::vector<std::uint8_t> links;
  for (const std::size_t a : at)
    for (const std::size_t b : at) {
      const auto& link = matrix->link(a, b);
      links.push_back(link ? link->nvlinks : 0);
    }
  return links;
}

void add_gpus(std::vector<ares_sched_gpus>& out, const std::vector<GpuRequest>& requests,
              ares_sched_per per) {
  for (const GpuRequest& request : requests)
    if (devices_of(request) > 0)
      out.push_back({sizeof(ares_sched_gpus), static_cast<std::int32_t>(per), devices_of(request),
                     request.type.c_str(), request.part});
}

template <class T>
std::vector<const T*> pointers_to(const std::vector<T>& all) {
  std::vector<const T*> out;
  out.reserve(all.size());
  for (const T& one : all) out.push_back(&one);
  return out;
}

}  // namespace

void PluginViews::fill(const PluginJob& job, PluginLooks looks_at, JobView& out) {
  const JobSpec& spec = *job.job->spec;
  const auto text = [&](PluginLook look, const std::string& of) {
    return looks(looks_at, look) ? of.c_str() : "";
  };
  out.gpus.clear();
  add_gpus(out.gpus, spec.gpus_per_task, ARES_SCHED_PER_TASK);
  // The other GPU options are then consistent with it and add nothing.
  if (spec.gpus_per_task.empty()) {
    add_gpus(out.gpus, spec.gpus_per_node, ARES_SCHED_PER_NODE);
    add_gpus(out.gpus, spec.gpus_total, ARES_SCHED_IN_ALL);
  }
  out.gpu_pointers = pointers_to(out.gpus);
  out.features.clear();
  for (const std::string& feature : spec.features) out.features.push_back(feature.c_str());

  ares_sched_job& view = out.view = {};
  view.size = sizeof view;
  view.partition = job.partition->name.c_str();
  view.min_nodes = spec.min_nodes;
  view.max_nodes = spec.max_nodes;
  view.tasks = spec.tasks;
  view.cpus_per_task = spec.cpus_per_task;
  view.tasks_per_node = spec.tasks_per_node;
  view.memory_per_node = bytes(spec.memory_per_node);
  view.memory_per_cpu = bytes(spec.memory_per_cpu);
  view.gpu_request_count = out.gpus.size();
  view.gpu_requests = out.gpu_pointers.data();
  view.min_nvlinks = spec.gpu_constraint.min_nvlinks;
  view.exclusive = spec.exclusive || job.partition->exclusive ? 1 : 0;
  view.feature_count = out.features.size();
  view.features = out.features.data();
  view.task = ARES_SCHED_NO_TASK;
  if (looks(looks_at, PluginLook::job_id)) {
    view.id = job.job->key.job.value();
    if (!job.job->key.task.is_none()) view.task = job.job->key.task.value;
  }
  if (looks(looks_at, PluginLook::user)) view.uid = spec.uid.value();
  view.user = text(PluginLook::user, spec.user);
  view.account = text(PluginLook::account, spec.account);
  view.qos = text(PluginLook::qos, spec.qos);
  view.name = text(PluginLook::name, spec.name);
  view.comment = text(PluginLook::comment, spec.comment);
  view.time_limit = ARES_SCHED_UNLIMITED;
  if (looks(looks_at, PluginLook::time_limit))
    if (const auto limit = core::time_limit_of(*job.job, *job.partition))
      view.time_limit = limit->count();
}

const ares_sched_job* PluginViews::job(const PluginJob& job, PluginLooks looks_at) {
  fill(job, looks_at, job_);
  return &job_.view;
}

const std::uint8_t* PluginViews::links_of(const Inventory& inventory) {
  if (inventory.gpu_topology.empty() || inventory.gpus.empty()) return nullptr;
  if (links_.size() > kMostLinks) links_.clear();
  const auto [found, added] = links_.try_emplace(inventory.gpu_topology.text().data());
  if (added) found->second = {inventory.gpu_topology, nvlinks_of(inventory)};
  const std::size_t count = inventory.gpus.size();
  // Another inventory with the same text may have fewer of the machine's GPUs.
  if (!added && found->second.nvlinks.size() != count * count)
    found->second.nvlinks = nvlinks_of(inventory);
  return found->second.nvlinks.empty() ? nullptr : found->second.nvlinks.data();
}

void PluginViews::fill(const PluginNode& node, ares_sched_node& out) {
  const Inventory& inventory = *node.inventory;
  out.size = sizeof out;
  out.name = node.node->name.c_str();
  out.leaf = node.leaf ? node.leaf->c_str() : "";
  out.cpus = inventory.cpus;
  out.free_cpus = amount(node.free_cpus);
  out.memory = amount(inventory.memory.value());
  out.free_memory = amount(node.free_memory);
  out.feature_count = inventory.features.size();
  out.features = features_.data() + features_.size();
  for (const std::string& feature : inventory.features) features_.push_back(feature.c_str());
  out.gpu_count = inventory.gpus.size();
  out.gpu_indices = indices_.data() + indices_.size();
  out.gpu_types = types_.data() + types_.size();
  out.free_gpus = free_.data() + free_.size();
  free_.resize(free_.size() + (inventory.gpus.size() + 63) / 64, 0);
  std::uint64_t* words = free_.data() + (out.free_gpus - free_.data());
  for (std::size_t p = 0; p < inventory.gpus.size(); ++p) {
    const Gpu& gpu = inventory.gpus[p];
    indices_.push_back(gpu.index.value());
    types_.push_back(gpu.type.c_str());
    if (!std::binary_search(node.gpus_used.begin(), node.gpus_used.end(), gpu.index))
      words[p / 64] |= std::uint64_t{1} << (p % 64);
  }
  out.nvlinks = links_of(inventory);
}

const ares_sched_node* const* PluginViews::nodes(std::span<const PluginNode> nodes) {
  std::size_t features = 0, gpus = 0, words = 0;
  for (const PluginNode& node : nodes) {
    features += node.inventory->features.size();
    gpus += node.inventory->gpus.size();
    words += (node.inventory->gpus.size() + 63) / 64;
  }
  features_.clear();
  types_.clear();
  indices_.clear();
  free_.clear();
  // One more than needed, so that a node without entries has a valid pointer.
  features_.reserve(features + 1);
  types_.reserve(gpus + 1);
  indices_.reserve(gpus + 1);
  free_.reserve(words + 1);
  nodes_.assign(nodes.size(), {});
  for (std::size_t i = 0; i < nodes.size(); ++i) fill(nodes[i], nodes_[i]);
  node_pointers_ = pointers_to(nodes_);
  return node_pointers_.data();
}

const ares_sched_placement* const* PluginViews::placements(
    std::span<const PluginPlacement> placements) {
  std::vector<PluginNode> all;
  std::size_t gpus = 0;
  for (const PluginPlacement& one : placements) {
    all.insert(all.end(), one.nodes.begin(), one.nodes.end());
    for (const NodeShare& share : one.shares) gpus += share.gpus.size();
  }
  nodes(all);
  gpus_.clear();
  gpus_.reserve(gpus + 1);
  shares_.clear();
  shares_.reserve(all.size());
  jobs_.clear();
  placements_.clear();
  placements_.reserve(placements.size());
  for (const PluginPlacement& one : placements)
    for (const NodeShare& share : one.shares) {
      const ares_sched_node& node = nodes_[shares_.size()];
      const std::uint32_t* first = gpus_.data() + gpus_.size();
      for (std::uint32_t p = 0; p < node.gpu_count; ++p)
        if (std::binary_search(share.gpus.begin(), share.gpus.end(),
                               GpuIndex(static_cast<GpuIndex::rep>(node.gpu_indices[p]))))
          gpus_.push_back(p);
      shares_.push_back({sizeof(ares_sched_share), &node, share.tasks, share.cpus,
                         amount(share.memory.value()),
                         static_cast<std::size_t>(gpus_.data() + gpus_.size() - first), first});
    }
  share_pointers_ = pointers_to(shares_);
  std::size_t begin = 0;
  for (const PluginPlacement& one : placements) {
    JobView& job = jobs_.emplace_back();
    fill(one.job, ~PluginLooks{0}, job);
    placements_.push_back({sizeof(ares_sched_placement), &job.view, one.shares.size(),
                           share_pointers_.data() + begin});
    begin += one.shares.size();
  }
  placement_pointers_ = pointers_to(placements_);
  return placement_pointers_.data();
}

}  // namespace ares::sched
