#include "node/file_pattern.h"

namespace ares::node {

std::string expand_pattern(std::string_view pattern, const StepSpec& spec) {
  const LaunchSpec& launch = spec.launch;
  const JobKey& key = launch.attempt.job;
  PatternValues values;
  values.job = launch.own_id.value();
  values.array = key.job.value();
  values.task = key.task.is_none() ? 0 : key.task.value;
  values.node = launch.node_name;
  values.node_rank = launch.rank;
  values.restarts = launch.restarts;
  values.user = spec.user.name.empty() ? launch.spec->user : spec.user.name;
  values.name = launch.spec->name;
  return ares::expand_pattern(pattern, values);
}

std::string_view default_output(const StepSpec& spec) {
  return ares::default_output(!spec.launch.attempt.job.task.is_none());
}

std::string output_file(const StepSpec& spec) {
  const std::string& asked = spec.launch.spec->std_out;
  return expand_pattern(asked.empty() ? default_output(spec) : std::string_view(asked), spec);
}

std::string errors_file(const StepSpec& spec) {
  const std::string& asked = spec.launch.spec->std_err;
  return asked.empty() ? output_file(spec) : expand_pattern(asked, spec);
}

}  // namespace ares::node
