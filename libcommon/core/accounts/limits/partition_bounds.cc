#include "core/accounts/limits/partition_bounds.h"

#include "core/accounts/binding_qos.h"

namespace ares::core {

PartitionBounds bounds_of(const Accounting& records, const JobSpec& spec,
                          const Partition& partition) {
  PartitionBounds bounds{partition.max_time, partition.max_nodes, partition.min_nodes};
  const bool bounded = bounds.max_time || bounds.max_nodes || bounds.min_nodes > 1;
  const Qos* qos = bounded && !records.empty() ? qos_of(records, spec) : nullptr;
  if (!qos) return bounds;
  if (qos->has(QosFlag::partition_time_limit)) bounds.max_time.reset();
  if (qos->has(QosFlag::partition_max_nodes)) bounds.max_nodes.reset();
  if (qos->has(QosFlag::partition_min_nodes)) bounds.min_nodes = 0;
  return bounds;
}

}  // namespace ares::core
