// The fields of a partition that a command may change: one row each.
// Constant data; any thread. Internal to core/job.
#pragma once

#include <string_view>

#include "model/cluster/node.h"

namespace ares::core {

struct PartitionField {
  std::string_view name;  // in api.proto's Partition
  void (*copy)(const Partition& from, Partition& to);
};

// Null if the field does not exist or cannot be changed.
const PartitionField* find_partition_field(std::string_view name);

}  // namespace ares::core
