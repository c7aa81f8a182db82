#include "core/job/checks/partition_fields.h"

#include <algorithm>
#include <iterator>

namespace ares::core {
namespace {

template <auto Member>
void copy(const Partition& from, Partition& to) {
  to.*Member = from.*Member;
}

template <auto Member>
void copy_placement(const Partition& from, Partition& to) {
  to.placement.*Member = from.placement.*Member;
}

constexpr PartitionField kFields[] = {
    {"up", copy<&Partition::up>},
    {"open", copy<&Partition::open>},
    {"is_default", copy<&Partition::is_default>},
    {"nodes", copy<&Partition::nodes>},
    {"max_time", copy<&Partition::max_time>},
    {"default_time", copy<&Partition::default_time>},
    {"tier", copy<&Partition::tier>},
    {"priority", copy<&Partition::priority>},
    {"max_nodes", copy<&Partition::max_nodes>},
    {"min_nodes", copy<&Partition::min_nodes>},
    {"default_memory_per_cpu", copy<&Partition::default_memory_per_cpu>},
    {"exclusive", copy<&Partition::exclusive>},
    {"cpu_placement", copy_placement<&PlacementPolicy::cpu>},
    {"gpu_placement", copy_placement<&PlacementPolicy::gpu>},
    {"preempt_mode", copy<&Partition::preempt_mode>},
    {"qos", copy<&Partition::qos>},
    {"max_cpus_per_node", copy<&Partition::max_cpus_per_node>},
    {"container_image", copy<&Partition::container_image>},
};

}  // namespace

const PartitionField* find_partition_field(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const PartitionField& row) { return row.name == name; });
  return found == std::end(kFields) ? nullptr : found;
}

}  // namespace ares::core
