// PluginViews: jobs and nodes of the scheduler as the C structs that plugins get. A view is valid
// until the next one is made, so the caller of a plugin owns the object and keeps it during the
// call. Not thread-safe.
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
  // For filter() and score(): contains only the properties of the job that `looks_at` names.
  const ares_sched_job* job(const PluginJob& job, PluginLooks looks_at);
  const ares_sched_node* const* nodes(std::span<const PluginNode> nodes);
  // For permit(): contains everything.
  const ares_sched_placement* const* placements(std::span<const PluginPlacement> placements);

 private:
  struct JobView {
    ares_sched_job view{};
    std::vector<ares_sched_gpus> gpus;
    std::vector<const ares_sched_gpus*> gpu_pointers;
    std::vector<const char*> features;
  };
  struct Links {
    GpuTopology of;  // keeps the text in place
    std::vector<std::uint8_t> nvlinks;
  };

  void fill(const PluginJob& job, PluginLooks looks_at, JobView& out);
  void fill(const PluginNode& node, ares_sched_node& out);
  const std::uint8_t* links_of(const Inventory& inventory);

  JobView job_;
  std::vector<ares_sched_node> nodes_;
  std::vector<const ares_sched_node*> node_pointers_;
  // Storage for the arrays of the nodes; reserved before pointers into it are taken.
  std::vector<const char*> features_, types_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint64_t> free_;
  std::map<const char*, Links> links_;  // by the address of the text

  std::deque<JobView> jobs_;
  std::vector<ares_sched_placement> placements_;
  std::vector<const ares_sched_placement*> placement_pointers_;
  std::vector<ares_sched_share> shares_;
  std::vector<const ares_sched_share*> share_pointers_;
  std::vector<std::uint32_t> gpus_;
};

}  // namespace ares::sched
