// What a specification is checked for when it is submitted, and again when a pending job is changed: one place for both.
// Internal to core/job; pure, engine thread. Every refusal is invalid_argument unless it says otherwise.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {

// The numbers asked for, by themselves.
Status check_counts(const JobSpec& spec);

// All that is asked for of nodes, GPUs and licences, by itself.
Status check_resources(const Policy& policy, const JobSpec& spec);

// The partitions meant, without repeats; the default one where none is named.
Result<std::vector<std::string>> partitions_of(const ClusterState& state, const JobSpec& spec);

// Whether all of them take new jobs.
Status check_open(const ClusterState& state, const std::vector<std::string>& partitions);

// One of the partitions must be able to run it one day; the text is about the first.
Status check_partitions(const DecisionContext& q, const JobSpec& spec,
                        const std::vector<std::string>& names);

// GPUs by task, by node and in total must say the same; and what comes with each GPU needs to be told apart by node.
Status check_gpus(const JobSpec& spec);

// That a part of a GPU is one, and asked for with nothing that it does not go together with.
Status check_gpu_parts(const JobSpec& spec);

// That there are several ways to have its GPUs, if any, all of one list, and each in order by itself.
Status check_gpu_alternatives(const JobSpec& spec);

// What is asked of the links between the GPUs of a node.
Status check_gpu_constraint(const JobSpec& spec);

// The numbers of nodes, if only some will do.
Status check_node_counts(const JobSpec& spec);

// That it can be read, and that the nodes it counts are not more than may be given.
Status check_constraint(const JobSpec& spec);

// What is asked of the network between the nodes, and what is only preferred of them, by itself.
Status check_layout(const JobSpec& spec);

// That each of its reservations exists, that the job's user or account may use it, and that it lasts as long as the job asks for.
Status check_reservations(const ClusterState& state, const JobSpec& spec);

// That its user may use the account and the QOS that it names, in one of its partitions.
Status check_account(const DecisionContext& q, const JobSpec& spec);

// That its wckey is its user's, where the site asks for that.
Status check_wckey(const DecisionContext& q, const JobSpec& spec);

// That it is over no limit by itself, where its QOS wants such jobs refused. In one of its partitions is enough.
Status check_limits(const DecisionContext& q, const JobSpec& spec);

// That so many jobs more of its kind (tasks, of an array) may wait or run.
Status check_submitted(LimitUse& use, const JobSpec& spec, std::uint64_t jobs);

// Minimum limit and deadline, each by itself and against the limit asked for.
Status check_times(const JobSpec& spec, Time now);

// How its dependencies stand now. What can never be met any more is both waited for and failed, and what is met with a delay
// is both waited for and met.
struct CheckedDependencies {
  std::vector<Dependency> waiting;
  std::vector<Dependency> failed;
  std::vector<std::pair<Dependency, Time>> delayed;  // met, but the job may not start before
};
// `key` is the job's own, or the one it will have. `same_name_ahead`: whether a job of the same user and name comes before it
// that the state does not hold yet; none: there is none.
Result<CheckedDependencies> check_dependencies(const DecisionContext& q, const Principal& who,
                                               const JobSpec& spec, const JobKey& key,
                                               const std::function<bool()>& same_name_ahead = {});

}  // namespace ares::core
