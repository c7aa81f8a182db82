// The QOS that bind a job: its own and that of its partition. Pure functions; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/accounts/account_directory.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core {

// A job that names no QOS uses `normal`.
std::string_view qos_name(const JobSpec& spec);
// The QOS of the job; null if no QOS of that name exists.
const Qos* qos_of(const Accounting& records, const JobSpec& spec);

struct BindingQos {
  const Qos* own = nullptr;  // null: no QOS of that name exists
  const Qos* of_partition =
      nullptr;  // null: the partition has none, none of that name exists, or it is `own`
  // In order of precedence: the partition's first, unless `own` has OverPartQOS. Null at the end.
  std::array<const Qos*, 2> in_order() const;
};
// `own`: name of the job's QOS. A null partition counts as one without a QOS.
BindingQos binding_qos(const Accounting& records, std::string_view own, const Partition* partition);

// Why the partition starts no jobs: limits are enforced and its QOS does not exist. Empty: it may.
std::string missing_qos(const Accounting& records, Enforce enforce, const Partition& partition);

// "QOS gold", "QOS night of partition gpu".
std::string qos_text(const Qos& qos, const BindingQos& all, std::string_view partition);

}  // namespace ares::core
