// Checks of a specification, shared by submission and by changes of pending jobs. Internal to
// core/job; pure, engine thread. Refusals are invalid_argument unless stated otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "core/job/decide/decision_context.h"

namespace ares::core {

// The numbers of nodes, tasks, CPUs and memory, by themselves.
Status check_counts(const JobSpec& spec);

// Decides the maximum of nodes that the request leaves open: the minimum if the nodes named suffice,
// else up to one node per task. GPUs in total that are more than so many nodes have need more nodes.
void settle_nodes(const ClusterState& state, JobSpec& spec);

// All requested nodes, GPUs and licences, without looking at the nodes of the cluster.
Status check_resources(const Policy& policy, const JobSpec& spec);

// The requested partitions without duplicates; the default partition if none is named.
Result<std::vector<std::string>> partitions_of(const ClusterState& state, const JobSpec& spec);

// Whether all of them accept new jobs.
Status check_open(const ClusterState& state, const std::vector<std::string>& partitions);

// At least one of the partitions must be able to run the job. The error is about the first.
Status check_partitions(const DecisionContext& q, const JobSpec& spec,
                        const std::vector<std::string>& names);

// GPUs per task, node and in total must agree. CPUs or memory per GPU need GPUs known per node.
Status check_gpus(const JobSpec& spec);

// A part of a GPU must be below 1, and some options cannot be combined with it.
Status check_gpu_parts(const JobSpec& spec);

// GPU alternatives: at least two, all of one list (per node, job or task), each valid by itself.
Status check_gpu_alternatives(const JobSpec& spec);

// The requested links between the GPUs of a node.
Status check_gpu_constraint(const JobSpec& spec);

// The set of allowed node counts, if one is given.
Status check_node_counts(const JobSpec& spec);

// The features must parse, and their node counts must not exceed the maximum number of nodes.
Status check_constraint(const JobSpec& spec);

// --switches, --segment and --prefer, by themselves.
Status check_layout(const JobSpec& spec);

// Each reservation must exist, admit the job's user or account, and last as long as the job needs.
Status check_reservations(const ClusterState& state, const JobSpec& spec);

// The user must be allowed to use the account and QOS in one of the partitions.
Status check_account(const DecisionContext& q, const JobSpec& spec);

// The wckey must be one of the user's, if the site requires that.
Status check_wckey(const DecisionContext& q, const JobSpec& spec);

// The job alone must not exceed a limit whose QOS refuses such jobs. One partition is enough.
Status check_limits(const DecisionContext& q, const JobSpec& spec);

// `jobs` more jobs of this kind (for an array: tasks) must be within the limits on submitted jobs.
Status check_submitted(LimitUse& use, const JobSpec& spec, std::uint64_t jobs);

// Minimum time limit and deadline, each by itself and against the time limit.
Status check_times(const JobSpec& spec, Time now);

// Number of pairs of a task and the task of another array that it waits for (aftercorr).
std::uint64_t corresponding_tasks(const JobSpec& spec);

// Whether a submission may have so many of these pairs.
Status check_corresponding(std::uint64_t tasks);

// Current status of the dependencies. One that can never be met is in `waiting` and in `failed`;
// one that is met but has a delay is in `waiting` and in `delayed`.
struct CheckedDependencies {
  std::vector<Dependency> waiting;
  std::vector<Dependency> failed;
  std::vector<std::pair<Dependency, Time>> delayed;  // met, but the job may not start before
};
// `key`: that of the job, or the one that it will get. `same_name_ahead`: whether an earlier job of
// the same user and name exists that is not in the state yet; empty: there is none.
Result<CheckedDependencies> check_dependencies(const DecisionContext& q, const Principal& who,
                                               const JobSpec& spec, const JobKey& key,
                                               const std::function<bool()>& same_name_ahead = {});

}  // namespace ares::core
