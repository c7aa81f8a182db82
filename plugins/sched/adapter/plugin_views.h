// PluginViews: jobs and nodes of the scheduler as the C structs that plugins get. Valid until the next one is made: whoever calls a plugin owns
// it and keeps it for as long as the call lasts; not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/policy/sched_plugins.h"
#include "plugin/sched_abi.h"

namespace ares::sched {

class PluginViews {
 public:
  // For filter() and score(): of the job only what `looks_at` names.
  const ares_sched_job* job(const PluginJob& job, PluginLooks looks_at);
  const ares_sched_node* const* nodes(std::span<const PluginNode> nodes);
  // For permit(): everything.
  const ares_sched_placement* const* placements(std::span<const PluginPlacement> placements);

 private:
  struct JobView {
    ares_sched_job view{};
    std::vector<ares_sched_gpus> gpus;
    std::vector<const ares_sched_gpus*> gpu_pointers;
    std::vector<const char*> features;
  };
  struct Links {
    GpuTopology of;  // keeps the text where it is
    std::vector<std::uint8_t> nvlinks;
  };

  void fill(const PluginJob& job, PluginLooks looks_at, JobView& out);
  void fill(const PluginNode& node, ares_sched_node& out);
  const std::uint8_t* links_of(const Inventory& inventory);

  JobView job_;
  std::vector<ares_sched_node> nodes_;
  std::vector<const ares_sched_node*> node_pointers_;
  // What the nodes point into, made large enough before.
  std::vector<const char*> features_, types_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint64_t> free_;
  std::map<const char*, Links> links_;  // by where the text lies

  std::deque<JobView> jobs_;
  std::vector<ares_sched_placement> placements_;
  std::vector<const ares_sched_placement*> placement_pointers_;
  std::vector<ares_sched_share> shares_;
  std::vector<const ares_sched_share*> share_pointers_;
  std::vector<std::uint32_t> gpus_;
};

}  // namespace ares::sched
