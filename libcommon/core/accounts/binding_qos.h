// Whose QOS bind a job: its own, and that of the partition it is in. Pure functions; any thread.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/accounts/account_directory.h"
#include "model/cluster/node.h"
#include "model/job/job.h"

namespace ares::core {

// A job that names none runs as `normal`.
std::string_view qos_name(const JobSpec& spec);
// The QOS that a job runs with; null: there is none of that name.
const Qos* qos_of(const Accounting& records, const JobSpec& spec);

struct BindingQos {
  const Qos* own = nullptr;  // null: there is none of that name
  const Qos* of_partition =
      nullptr;  // null: it has none, there is none of that name, or it is the job's own
  // Whose limits come first comes first: the partition's, but for jobs whose QOS has OverPartQOS. Null: no more.
  std::array<const Qos*, 2> in_order() const;
};
// `own`: by name. `partition`: null is one without a QOS.
BindingQos binding_qos(const Accounting& records, std::string_view own, const Partition* partition);

// Why nothing starts in the partition: limits are enforced, and the QOS whose limits they would be is not there. Empty: it may.
std::string missing_qos(const Accounting& records, Enforce enforce, const Partition& partition);

// "QOS gold", "QOS night of partition gpu".
std::string qos_text(const Qos& qos, const BindingQos& all, std::string_view partition);

}  // namespace ares::core
