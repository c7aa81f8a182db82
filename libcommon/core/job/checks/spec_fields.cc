#include "core/job/checks/spec_fields.h"

#include <algorithm>
#include <iterator>

namespace ares::core {
namespace {

template <auto Member>
void copy(const JobSpec& from, JobSpec& to) {
  to.*Member = from.*Member;
}

template <auto Member>
void copy_link(const JobSpec& from, JobSpec& to) {
  to.gpu_constraint.*Member = from.gpu_constraint.*Member;
}

constexpr bool kPendingOnly = false, kAlive = true;
constexpr auto kNothing = SpecField::nothing, kShape = SpecField::shape, kTimes = SpecField::times;

// `requeue` can be changed only while pending: a started job got its leases according to it.
constexpr SpecField kFields[] = {
    {"name", "name", kPendingOnly, kNothing, copy<&JobSpec::name>},
    {"comment", "comment", kAlive, kNothing, copy<&JobSpec::comment>},
    {"mail_types", "mail types", kAlive, kNothing, copy<&JobSpec::mail_types>},
    {"mail_user", "mail address", kAlive, kNothing, copy<&JobSpec::mail_user>},
    {"account", "account", kPendingOnly, kNothing, copy<&JobSpec::account>},
    {"qos", "QOS", kPendingOnly, kNothing, copy<&JobSpec::qos>},
    {"wckey", "wckey", kPendingOnly, kNothing, copy<&JobSpec::wckey>},
    {"partitions", "partition", kPendingOnly, kShape, copy<&JobSpec::partitions>},
    {"min_nodes", "number of nodes", kPendingOnly, kShape, copy<&JobSpec::min_nodes>},
    {"max_nodes", "number of nodes", kPendingOnly, kShape, copy<&JobSpec::max_nodes>},
    {"node_counts", "number of nodes", kPendingOnly, kShape, copy<&JobSpec::node_counts>},
    {"tasks", "number of tasks", kPendingOnly, kShape, copy<&JobSpec::tasks>},
    {"tasks_per_node", "tasks per node", kPendingOnly, kShape, copy<&JobSpec::tasks_per_node>},
    {"cpus_per_task", "CPUs per task", kPendingOnly, kShape, copy<&JobSpec::cpus_per_task>},
    {"memory_per_node", "memory per node", kPendingOnly, kShape, copy<&JobSpec::memory_per_node>},
    {"memory_per_cpu", "memory per CPU", kPendingOnly, kShape, copy<&JobSpec::memory_per_cpu>},
    {"gpus_per_node", "GPUs per node", kPendingOnly, kShape, copy<&JobSpec::gpus_per_node>},
    {"gpus_total", "GPUs", kPendingOnly, kShape, copy<&JobSpec::gpus_total>},
    {"gpus_per_task", "GPUs per task", kPendingOnly, kShape, copy<&JobSpec::gpus_per_task>},
    {"gpu_alternatives", "GPUs", kPendingOnly, kShape, copy<&JobSpec::gpu_alternatives>},
    {"alternatives_per", "GPUs", kPendingOnly, kShape, copy<&JobSpec::alternatives_per>},
    {"memory_per_gpu", "memory per GPU", kPendingOnly, kShape, copy<&JobSpec::memory_per_gpu>},
    {"cpus_per_gpu", "CPUs per GPU", kPendingOnly, kShape, copy<&JobSpec::cpus_per_gpu>},
    {"gpu_topology", "topology of GPUs", kPendingOnly, kShape, copy_link<&GpuConstraint::shape>},
    {"min_nvlink", "number of NVLinks", kPendingOnly, kShape,
     copy_link<&GpuConstraint::min_nvlinks>},
    {"licenses", "licences", kPendingOnly, kShape, copy<&JobSpec::licenses>},
    {"any_license", "licences", kPendingOnly, kShape, copy<&JobSpec::any_license>},
    {"exclusive_user", "use of whole nodes", kPendingOnly, kShape, copy<&JobSpec::exclusive_user>},
    {"exclusive", "use of whole nodes", kPendingOnly, kShape, copy<&JobSpec::exclusive>},
    {"required_nodes", "required nodes", kPendingOnly, kShape, copy<&JobSpec::required_nodes>},
    {"excluded_nodes", "excluded nodes", kPendingOnly, kShape, copy<&JobSpec::excluded_nodes>},
    {"features", "features", kPendingOnly, kShape, copy<&JobSpec::features>},
    {"prefer", "preference", kPendingOnly, kShape, copy<&JobSpec::prefer>},
    {"switches", "switches", kPendingOnly, kShape, copy<&JobSpec::switches>},
    {"switches_wait", "switches", kPendingOnly, kShape, copy<&JobSpec::switches_wait>},
    {"segment", "segment", kPendingOnly, kShape, copy<&JobSpec::segment>},
    {"reservations", "reservation", kPendingOnly, kShape, copy<&JobSpec::reservations>},
    {"begin", "time to begin", kPendingOnly, kTimes, copy<&JobSpec::begin>},
    {"deadline", "deadline", kPendingOnly, kTimes, copy<&JobSpec::deadline>},
    {"time_min", "minimum time limit", kPendingOnly, kTimes, copy<&JobSpec::time_min>},
    {"dependencies", "dependency", kPendingOnly, kNothing, copy<&JobSpec::dependencies>},
    {"any_dependency", "dependency", kPendingOnly, kNothing, copy<&JobSpec::any_dependency>},
    {"kill_on_invalid_dependency", "end on an invalid dependency", kPendingOnly, kNothing,
     copy<&JobSpec::kill_on_invalid_dependency>},
    {"nice", "nice value", kPendingOnly, kNothing, copy<&JobSpec::nice>},
    {"warning", "warning signal", kPendingOnly, kNothing, copy<&JobSpec::warning>},
    {"requeue", "requeue flag", kPendingOnly, kNothing, copy<&JobSpec::requeue>},
    {"work_dir", "working directory", kPendingOnly, kNothing, copy<&JobSpec::work_dir>},
    {"std_in", "input file", kPendingOnly, kNothing, copy<&JobSpec::std_in>},
    {"std_out", "output file", kPendingOnly, kNothing, copy<&JobSpec::std_out>},
    {"std_err", "error file", kPendingOnly, kNothing, copy<&JobSpec::std_err>},
};

}  // namespace

const SpecField* find_spec_field(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const SpecField& row) { return row.name == name; });
  return found == std::end(kFields) ? nullptr : found;
}

}  // namespace ares::core
