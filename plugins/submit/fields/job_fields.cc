#include "submit/fields/job_fields.h"

#include <algorithm>
#include <cmath>

#include "base/hostlist.h"
#include "cli/output/text.h"
#include "cli/values/gpu_values.h"
#include "cli/values/spec_values.h"
#include "submit/fields/field_setters.h"

namespace ares::submit {

namespace {

using Spec = api::JobSpec;

constexpr double kMiB = 1 << 20;
constexpr double kSecond = 1e6;  // microseconds

FieldValue count_or(std::uint32_t count, double unset) {
  return count == 0 ? unset : static_cast<double>(count);
}

template <class List>
std::string joined(const List& list, std::string_view separator) {
  return cli::join(std::vector<std::string>(list.begin(), list.end()), separator);
}

template <class List>
FieldValue hosts(const List& list) {
  return text_or_nothing(compress_hostlist(std::vector<std::string>(list.begin(), list.end())));
}

FieldValue limit_of(const Spec& spec) {
  if (!spec.has_time_limit()) return kNoVal;
  if (spec.time_limit() == 0) return kInfinite;
  return std::ceil(static_cast<double>(spec.time_limit()) / kMinute);
}

FieldValue least_time_of(const Spec& spec) {
  return spec.has_time_min() ? std::ceil(static_cast<double>(spec.time_min()) / kMinute) : kNoVal;
}

double in_mib(std::int64_t bytes) {
  return std::ceil(static_cast<double>(bytes) / kMiB);
}

FieldValue memory_of(const Spec& spec) {
  return spec.has_memory_per_node() ? in_mib(spec.memory_per_node()) : kNoVal64;
}

FieldValue mib_or_nothing(bool is_set, std::int64_t bytes) {
  return is_set ? FieldValue(in_mib(bytes)) : FieldValue();
}

FieldValue seconds_of(bool is_set, std::int64_t microseconds) {
  return is_set ? std::floor(static_cast<double>(microseconds) / kSecond) : 0;
}

FieldValue shared_of(const Spec& spec) {
  return spec.exclusive() ? 0.0 : spec.exclusive_user() ? 2.0 : kNoVal16;
}

std::string licenses_of(const Spec& spec) {
  std::vector<std::string> all;
  for (const api::LicenseRequest& license : spec.licenses())
    all.push_back(license.name() + ":" + std::to_string(license.count()));
  return cli::join(all, spec.any_license() ? "|" : ",");
}

std::string dependencies_of(const Spec& spec) {
  std::string text = cli::format_dependencies(spec.dependencies());
  if (spec.any_dependency()) std::replace(text.begin(), text.end(), ',', '?');
  return text;
}

std::string array_of(const Spec& spec) {
  if (spec.array().empty() || spec.array_throttle() == 0) return spec.array();
  return spec.array() + "%" + std::to_string(spec.array_throttle());
}

template <const std::string& (Spec::*get)() const>
FieldValue get_text(const Spec& spec) {
  return text_or_nothing((spec.*get)());
}

Status set_whole_cpus(Spec& spec, const FieldValue& value) {
  spec.clear_cpu_thousandths_per_task();
  return set_count<&Spec::set_cpus_per_task>(spec, value);
}

}  // namespace

const std::vector<JobField>& job_fields() {
  static const std::vector<JobField> all = {
      {"account",
       "Account.",
       get_text<&Spec::account>,
       set_text<&Spec::set_account<const std::string&>>,
       {"account"}},
      {"array_inx", "Tasks of an array, such as 0-9%2.",
       [](const Spec& s) { return text_or_nothing(array_of(s)); },
       set_by_option<&Spec::clear_array, cli::set_array>},
      {"begin_time",
       "Seconds since 1970; 0: at once.",
       [](const Spec& s) { return seconds_of(s.has_begin(), s.begin()); },
       set_time<&Spec::set_begin, &Spec::clear_begin>,
       {"begin"}},
      {"comment",
       "Text.",
       get_text<&Spec::comment>,
       set_text<&Spec::set_comment<const std::string&>>,
       {"comment"}},
      {"cpus_per_tres",
       "CPUs for each GPU, as gres/gpu:8.",
       [](const Spec& s) {
         return s.cpus_per_gpu() > 0 ? FieldValue("gres/gpu:" + std::to_string(s.cpus_per_gpu()))
                                     : FieldValue();
       },
       set_cpus_of_gpus,
       {"cpus_per_gpu"}},
      {"cpus_per_task",
       "A fraction is read rounded up; to set it takes the fraction away.",
       [](const Spec& s) { return count_or(s.cpus_per_task(), kNoVal16); },
       set_whole_cpus,
       {"cpus_per_task", "cpu_thousandths_per_task"}},
      {"deadline",
       "Seconds since 1970; 0: none.",
       [](const Spec& s) { return seconds_of(s.has_deadline(), s.deadline()); },
       set_time<&Spec::set_deadline, &Spec::clear_deadline>,
       {"deadline"}},
      {"dependency",
       "As asub --dependency.",
       [](const Spec& s) { return text_or_nothing(dependencies_of(s)); },
       set_by_option<&Spec::clear_dependencies, cli::set_dependencies>,
       {"dependencies", "any_dependency"}},
      {"exc_nodes",
       "Host list.",
       [](const Spec& s) { return hosts(s.excluded_nodes()); },
       set_hosts<cli::set_excluded_nodes, &Spec::clear_excluded_nodes>,
       {"excluded_nodes"}},
      {"extra",
       "Text for other programs.",
       get_text<&Spec::extra>,
       set_text<&Spec::set_extra<const std::string&>>,
       {"extra"}},
      {"features",
       "As asub --constraint.",
       [](const Spec& s) { return text_or_nothing(joined(s.features(), "&")); },
       set_by_option<&Spec::clear_features, cli::set_constraint>,
       {"features"}},
      {"gres",
       "GPUs of each node, such as gpu:2.",
       [](const Spec& s) {
         return text_or_nothing(cli::format_gpu_list(s, api::PER_NODE, "gpu:"));
       },
       set_gpus_of_nodes,
       {"gpus_per_node", "gpu_alternatives", "alternatives_per"}},
      {"group_id", "Of the user.",
       [](const Spec& s) { return FieldValue(static_cast<double>(s.gid())); }},
      {"licenses",
       "Such as matlab:2.",
       [](const Spec& s) { return text_or_nothing(licenses_of(s)); },
       set_by_option<&Spec::clear_licenses, cli::set_licenses>,
       {"licenses", "any_license"}},
      {"mail_type",
       "Words, such as END,FAIL.",
       get_text<&Spec::mail_types>,
       set_by_option<&Spec::clear_mail_types, cli::set_mail_types>,
       {"mail_types"}},
      {"mail_user",
       "As asub --mail-user.",
       get_text<&Spec::mail_user>,
       set_by_option<&Spec::clear_mail_user, cli::set_mail_user>,
       {"mail_user"}},
      {"max_nodes",
       "",
       [](const Spec& s) { return count_or(s.max_nodes(), kNoVal); },
       set_most_nodes,
       {"max_nodes", "node_counts"}},
      {"mem_per_tres",
       "MiB for each GPU, as gres/gpu:1024.",
       [](const Spec& s) {
         return s.has_memory_per_gpu()
                    ? FieldValue("gres/gpu:" + text_of(in_mib(s.memory_per_gpu())))
                    : FieldValue();
       },
       set_memory_of_gpus,
       {"memory_per_gpu", "memory_per_cpu", "memory_per_node"}},
      {"min_cpus", "CPUs of all tasks.",
       [](const Spec& s) {
         return FieldValue(static_cast<double>(std::max(s.tasks(), 1u)) *
                           std::max(s.cpus_per_task(), 1u));
       }},
      {"min_mem_per_cpu",
       "MiB.",
       [](const Spec& s) { return mib_or_nothing(s.has_memory_per_cpu(), s.memory_per_cpu()); },
       set_memory_of_cpus,
       {"memory_per_cpu", "memory_per_node"}},
      {"min_mem_per_node",
       "MiB.",
       [](const Spec& s) { return mib_or_nothing(s.has_memory_per_node(), s.memory_per_node()); },
       set_memory,
       {"memory_per_cpu", "memory_per_node"}},
      {"min_nodes",
       "",
       [](const Spec& s) { return count_or(s.min_nodes(), kNoVal); },
       set_least_nodes,
       {"min_nodes", "node_counts"}},
      {"name",
       "Of the job.",
       get_text<&Spec::name>,
       set_text<&Spec::set_name<const std::string&>>,
       {"name"}},
      {"nice",
       "",
       [](const Spec& s) { return FieldValue(static_cast<double>(s.nice())); },
       set_by_option<&Spec::clear_nice, cli::set_nice>,
       {"nice"}},
      {"ntasks_per_node",
       "",
       [](const Spec& s) { return count_or(s.tasks_per_node(), kNoVal16); },
       set_count<&Spec::set_tasks_per_node>,
       {"tasks_per_node"}},
      {"num_tasks",
       "",
       [](const Spec& s) { return count_or(s.tasks(), kNoVal); },
       set_count<&Spec::set_tasks>,
       {"tasks"}},
      {"oversubscribe",
       "The same as shared.",
       shared_of,
       set_shared,
       {"exclusive", "exclusive_user"}},
      {"partition",
       "Names, separated by commas.",
       [](const Spec& s) { return text_or_nothing(joined(s.partitions(), ",")); },
       set_by_option<&Spec::clear_partitions, cli::set_partitions>,
       {"partitions"}},
      {"pn_min_memory",
       "MiB of each node.",
       memory_of,
       set_memory,
       {"memory_per_cpu", "memory_per_node"}},
      {"prefer",
       "As asub --prefer.",
       get_text<&Spec::prefer>,
       set_by_option<&Spec::clear_prefer, cli::set_prefer>,
       {"prefer"}},
      {"priority",
       "0: held.",
       [](const Spec& s) {
         return FieldValue(s.hold()           ? 0
                           : s.has_priority() ? static_cast<double>(s.priority())
                                              : kNoVal);
       },
       set_priority,
       {"priority"}},
      {"qos",
       "Quality of service.",
       get_text<&Spec::qos>,
       set_text<&Spec::set_qos<const std::string&>>,
       {"qos"}},
      {"req_nodes",
       "Host list.",
       [](const Spec& s) { return hosts(s.required_nodes()); },
       set_hosts<cli::set_required_nodes, &Spec::clear_required_nodes>,
       {"required_nodes"}},
      {"requeue",
       "1 or 0.",
       [](const Spec& s) {
         return FieldValue(s.has_requeue() ? (s.requeue() ? 1.0 : 0.0) : kNoVal16);
       },
       set_requeue,
       {"requeue"}},
      {"reservation",
       "Names, separated by commas.",
       [](const Spec& s) { return text_or_nothing(joined(s.reservations(), ",")); },
       set_by_option<&Spec::clear_reservations, cli::set_reservations>,
       {"reservations"}},
      {"shared",
       "slurm.JOB_SHARED_NONE: whole nodes; _USER: nodes for jobs of the same user.",
       shared_of,
       set_shared,
       {"exclusive", "exclusive_user"}},
      {"std_err",
       "Path.",
       get_text<&Spec::std_err>,
       [](Spec& s, const FieldValue& v) { return set_path(s.mutable_std_err(), v, false); },
       {"std_err"}},
      {"std_in",
       "Path.",
       get_text<&Spec::std_in>,
       [](Spec& s, const FieldValue& v) { return set_path(s.mutable_std_in(), v, false); },
       {"std_in"}},
      {"std_out",
       "Path.",
       get_text<&Spec::std_out>,
       [](Spec& s, const FieldValue& v) { return set_path(s.mutable_std_out(), v, false); },
       {"std_out"}},
      {"submit_line", "The command line.", get_text<&Spec::submit_line>},
      {"time_limit", "Minutes; slurm.INFINITE: none.", limit_of, set_limit, {"time_limit"}},
      {"time_min",
       "Minutes.",
       least_time_of,
       set_by_option<&Spec::clear_time_min, cli::set_time_min>,
       {"time_min"}},
      {"tres_per_job",
       "GPUs of the job, such as gres/gpu:4.",
       [](const Spec& s) {
         return text_or_nothing(cli::format_gpu_list(s, api::PER_JOB, "gres/gpu:"));
       },
       set_gpus<api::PER_JOB, &Spec::clear_gpus_total, cli::set_gpus_total>,
       {"gpus_total", "gpu_alternatives", "alternatives_per"}},
      {"tres_per_node",
       "GPUs of each node, such as gres/gpu:2.",
       [](const Spec& s) {
         return text_or_nothing(cli::format_gpu_list(s, api::PER_NODE, "gres/gpu:"));
       },
       set_gpus_of_nodes,
       {"gpus_per_node", "gpu_alternatives", "alternatives_per"}},
      {"tres_per_task",
       "GPUs of each task, such as gres/gpu:1.",
       [](const Spec& s) {
         return text_or_nothing(cli::format_gpu_list(s, api::PER_TASK, "gres/gpu:"));
       },
       set_gpus<api::PER_TASK, &Spec::clear_gpus_per_task, cli::set_gpus_per_task>,
       {"gpus_per_task", "gpu_alternatives", "alternatives_per"}},
      {"user_id", "Of the user.",
       [](const Spec& s) { return FieldValue(static_cast<double>(s.uid())); }},
      {"user_name", "Of the user.", get_text<&Spec::user>},
      {"wckey",
       "What the work is for.",
       get_text<&Spec::wckey>,
       set_text<&Spec::set_wckey<const std::string&>>,
       {"wckey"}},
      {"work_dir",
       "Absolute path.",
       get_text<&Spec::work_dir>,
       [](Spec& s, const FieldValue& v) { return set_path(s.mutable_work_dir(), v, true); },
       {"work_dir"}},
  };
  return all;
}

}  // namespace ares::submit
