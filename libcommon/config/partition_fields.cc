// The keys of a line of `partitions`.
#include <algorithm>

#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"
#include "model/job/image_name.h"

namespace ares::config {
namespace {

// The state of a partition consists of two flags.
struct StateName {
  const char* word;
  bool up, open;
};
constexpr StateName kStates[] = {
    {"up", true, true}, {"down", false, true}, {"drain", true, false}, {"inactive", false, false}};

Field<Partition> state_field() {
  Field<Partition> row;
  row.name = "state";
  row.type = "up | down | drain | inactive";
  row.help =
      "In a partition that is down no job starts; one that drains takes no new jobs, but starts "
      "those "
      "it has; one that is inactive does neither.";
  row.read = [](Partition& partition, const Value& value) -> CheckResult {
    std::string word = value.text;
    for (char& c : word)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (const StateName& state : kStates) {
      if (value.kind != Value::Kind::scalar || word != state.word) continue;
      partition.up = state.up;
      partition.open = state.open;
      return {};
    }
    return problem(value.line, quote(value.text) + " is none of up, down, drain and inactive");
  };
  row.print = [](const Partition& partition) -> std::string {
    for (const StateName& state : kStates)
      if (state.up == partition.up && state.open == partition.open) return state.word;
    return "";
  };
  return row;
}

Type<PlacementStrategy> strategy_type() {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(kLastPlacementStrategy); ++i)
    words.emplace_back(to_string(static_cast<PlacementStrategy>(i)));
  const auto choice = choice_type(words);
  return {choice.name,
          [words, choice](const Value& value) -> Result<PlacementStrategy> {
            return choice.parse(value).map([&](const std::string& word) {
              const auto at = std::find(words.begin(), words.end(), word) - words.begin();
              return static_cast<PlacementStrategy>(at);
            });
          },
          [](const PlacementStrategy& strategy) { return std::string(to_string(strategy)); }};
}

Type<PreemptMode> preempt_mode_type() {
  const std::vector<std::string> words(kPreemptModeNames.begin(), kPreemptModeNames.end());
  const auto choice = choice_type(words);
  return {choice.name,
          [words, choice](const Value& value) -> Result<PreemptMode> {
            const auto word = choice.parse(value);
            if (!word) return fail(word.error());
            return static_cast<PreemptMode>(std::find(words.begin(), words.end(), *word) -
                                            words.begin());
          },
          [](const PreemptMode& mode) { return std::string(to_string(mode)); }};
}

Type<std::string> qos_name_type() {
  const auto name = name_type();
  return {"name of a QOS", name.parse, name.print};
}

Type<std::string> image_type() {
  const auto text = text_type();
  return {"name of a container image",
          [text](const Value& value) -> Result<std::string> {
            auto image = text.parse(value);
            if (image && !image->empty() && !is_image_name(*image))
              return fail(ErrorCode::invalid_argument,
                          quote(*image) + " is not the name of an image");
            return image;
          },
          // Nothing if empty: another text of the same configuration would be another hash of it.
          [text](const std::string& image) {
            return image.empty() ? std::string() : text.print(image);
          }};
}

Result<std::optional<std::uint32_t>> cpus_or_unlimited(const Value& value) {
  if (value.kind == Value::Kind::scalar && value.text == "0") return 0;
  return bound_type().parse(value);
}

Type<std::string> network_name_type() {
  const auto name = name_type();
  return {"name of a topology", name.parse, name.print};
}

}  // namespace

std::vector<Field<Partition>> partition_fields() {
  return {
      required(field<Partition>("name", &Partition::name, name_type(), "Name of the partition.")),
      required(
          field<Partition>("nodes", &Partition::nodes, host_list_type(), "A host list, or ALL.")),
      field<Partition>("default", &Partition::is_default, boolean_type(),
                       "Where jobs go that name no partition. Exactly one partition is the "
                       "default; a single one is by itself."),
      state_field(),
      field<Partition>("tier", &Partition::tier, integer_type(),
                       "Partitions of a higher tier are served first."),
      field<Partition>("priority", &Partition::priority, count_type(),
                       "Priority of its jobs unless one is set."),
      field<Partition>("max_time", &Partition::max_time, time_limit_type(),
                       "Longest time limit of a job."),
      field<Partition>("default_time", &Partition::default_time,
                       Type<std::optional<Seconds>>{"time limit", time_limit_type().parse,
                                                    [](const std::optional<Seconds>& limit) {
                                                      return limit ? time_limit_type().print(limit)
                                                                   : std::string();
                                                    }},
                       "Time limit of jobs that ask for none. When not given: max_time."),
      field<Partition>("max_nodes", &Partition::max_nodes, bound_type(), "Most nodes for one job."),
      field<Partition>(
          "max_cpus_per_node", &Partition::max_cpus_per_node,
          Type<std::optional<std::uint32_t>>{"count | UNLIMITED", cpus_or_unlimited,
                                             [](const std::optional<std::uint32_t>& most) {
                                               return most ? std::to_string(*most) : std::string();
                                             }},
          "Most CPUs of each of its nodes that its jobs get together; other "
          "partitions with the same nodes get the rest. 0: no job can start. When not "
          "given: all CPUs."),
      field<Partition>("min_nodes", &Partition::min_nodes, count_type(1),
                       "Fewest nodes for one job."),
      field<Partition>("default_memory_per_cpu", &Partition::default_memory_per_cpu, memory_type(),
                       "Memory of jobs that ask for none, for each CPU. 0, or not given: the share "
                       "of a CPU in the "
                       "memory of that node of the partition which has least for each."),
      field<Partition>("exclusive", &Partition::exclusive, boolean_type(), "Jobs get whole nodes."),
      field<Partition>("placement", &Partition::placement, map_type(placement_fields()),
                       "Which of the nodes that would do a job gets: {cpu: spread, gpu: binpack}. "
                       "Its keys are below."),
      field<Partition>("topology", &Partition::topology, network_name_type(),
                       "Name of the network between its nodes, of topology_file. Jobs of several "
                       "nodes are then kept close together, and --switches and --segment work. "
                       "Nodes that join by dynamic_nodes need a network by features (tree_by, "
                       "block_by)."),
      field<Partition>("qos", &Partition::qos, qos_name_type(),
                       "A QOS whose limits apply to all jobs of the partition and precede those of "
                       "their own QOS (except for a QOS with the flag OverPartQOS). It does not "
                       "restrict which QOS they may ask for. If no QOS of that name exists and "
                       "limits are enforced, no job starts in the partition."),
      field<Partition>("image", &Partition::container_image, image_type(),
                       "Container image of its jobs that name none, on nodes that run jobs in "
                       "containers (ares-kubernetes(7)). When not given: that of the nodes."),
      partition_billing_field(),
      field<Partition>(
          "preempt_mode", &Partition::preempt_mode, preempt_mode_type(),
          "How its running jobs are preempted when a job of a partition of a higher tier (or, with "
          "policy.preemption.by_qos, of a higher QOS) needs their resources. A PreemptMode of a "
          "job's QOS takes precedence. off: not at all. requeue: they get SIGTERM, after the grace "
          "SIGKILL, and run again later; one submitted with --no-requeue is ended for good. "
          "cancel: they are ended for good. The state is PREEMPTED. suspend: they are suspended, "
          "release their CPUs and nothing else, and resume by themselves as soon as these are "
          "free, before jobs of the same or a lower tier start; jobs of higher tiers come first as "
          "long as there are any; jobs in pods of Kubernetes, which keep their CPUs, are not "
          "preempted. All running members of a gang are preempted together, or none. Jobs that "
          "name several kinds of GPUs, arrays with a limit on their running tasks and jobs to "
          "which a plugin of the scheduler applies do not preempt."),
  };
}

std::vector<Field<PlacementPolicy>> placement_fields() {
  return {
      field<PlacementPolicy>("cpu", &PlacementPolicy::cpu, strategy_type(),
                             "Of jobs that ask for no GPUs. binpack: the tightest node, so that "
                             "whole nodes stay free. spread: the emptiest; nodes with GPUs last. "
                             "least_fragmentation: as for gpu."),
      field<PlacementPolicy>("gpu", &PlacementPolicy::gpu, strategy_type(),
                             "Of jobs that ask for GPUs. least_fragmentation: the node on which "
                             "the fewest GPUs become useless to the jobs that wait and run."),
  };
}

}  // namespace ares::config
