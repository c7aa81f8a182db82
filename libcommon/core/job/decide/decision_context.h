// Shared by the parts of decide(): the context of a decision, permissions, selection of jobs.
// Internal to core/job; pure, engine thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/job/decide/decision.h"
#include "core/job/decide/privileges.h"
#include "core/job/dependency.h"
#include "core/job/task_rank.h"
#include "model/engine/command.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

class UsageTotals;

struct DecisionContext {
  const ClusterState& state;
  const Policy& policy;
  Time now{};
  UsageTotals* sums = nullptr;
};

Decision refuse(ErrorCode code, std::string message);

// --- permissions --------------------------------------------------------------------------------
inline bool may_act_on(const Policy& policy, UserId uid, const Job& job) {
  return job.spec->uid == uid || is_operator(policy, uid);
}

// --- selection of jobs --------------------------------------------------------------------------
// One thing to act on: a record, or an array task that still waits in its array's record.
struct Target {
  JobKey key;
  const Job* record = nullptr;  // of the task if it has one, else of its array
  bool in_array = false;        // the task has no record yet
  bool named =
      false;  // by the caller, not selected through its array or a filter: problems are reported
};

struct Selected {
  std::vector<Target>
      targets;  // ascending key, no duplicates; an array's key stands for its waiting tasks
  std::vector<std::string> missing;  // named but not found: one sentence each
};

// An array that is named yields its record, then its tasks' records. Filters skip ended jobs.
Selected select(const DecisionContext& q, const Principal& who, const JobSelector& selector);

// One sentence about a filter that selects no job.
std::string nothing_matches(const DecisionContext& q, const Principal& who,
                            const JobSelector& selector);

// Whether the waiting tasks of an array stay in few enough ranges without the selected ones: each
// start and end of a task copies the ranges. Tasks that the caller may not act on do not count.
Status check_gaps(const DecisionContext& q, const Principal& who, const Selected& selected);

std::string job_text(const JobKey& key);  // "12" or "12_3"

TaskSplit split(const Target& target);

// --- reservations -------------------------------------------------------------------------------
// Exchanges nodes of reservations with the flag `replace_down` on which no job may start. A node
// without a substitute stays, and is looked at again by the next tick.
void replace_down_nodes(const DecisionContext& q, Decision& d);

// --- time limits --------------------------------------------------------------------------------
// The job's time limit in this partition; none = unlimited.
std::optional<Seconds> effective_time_limit(const Job& job, const Partition& partition);

// --- feasibility: the reason why a job could never run, or empty --------------------------------
std::string why_impossible(const ClusterState& state, const JobSpec& spec,
                           const Partition& partition);

// The same for the requested network between its nodes (--switches, --segment).
std::string why_network_forbids(const ClusterState& state, const Policy& policy,
                                const JobSpec& spec, const Partition& partition);

// Whether the nodes of -w could run the whole job if they were idle.
bool named_nodes_suffice(const ClusterState& state, const JobSpec& spec);

// The fewest nodes of one of the job's partitions that have its GPUs in total; 0: no partition has.
std::uint32_t nodes_for_gpus(const ClusterState& state, const JobSpec& spec);

// --- one function per command -------------------------------------------------------------------
Decision decide_submit(const DecisionContext& q, const Principal& who, const Submit& submit);
Decision decide_submit(const DecisionContext& q, const Principal& who, const SubmitMany& submit);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const Cancel& command);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const HoldJobs& command);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const ReleaseJobs& command);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const RequeueJobs& command);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const SuspendJobs& command);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const ResumeJobs& command);
Decision decide_jobs(const DecisionContext& q, const Principal& who, const UpdateJob& command);
Decision decide_admin(const DecisionContext& q, const Principal& who, const UpdateNode& command);
Decision decide_admin(const DecisionContext& q, const Principal& who, const RebootNodes& command);
Decision decide_admin(const DecisionContext& q, const Principal& who, const DeleteNodes& command);
Decision decide_admin(const DecisionContext& q, const Principal& who,
                      const UpdatePartition& command);
Decision decide_admin(const DecisionContext& q, const Principal& who, const Reconfigure& command);
Decision decide_admin(const DecisionContext& q, const Principal& who,
                      const CreateReservation& command);
Decision decide_admin(const DecisionContext& q, const Principal& who,
                      const UpdateReservation& command);
Decision decide_admin(const DecisionContext& q, const Principal& who,
                      const DeleteReservations& command);
Decision decide_accounting(const DecisionContext& q, const Principal& who,
                           const ChangeAccounting& command);
Decision decide_accounting(const DecisionContext& q, const Principal& who,
                           const ResetUsage& command);
Decision decide_accounting(const DecisionContext& q, const Principal& who,
                           const CorrectUsage& command);
std::string subject_of(const ChangeAccounting& command);  // for the audit record
std::string subject_of(const ResetUsage& command);
std::string subject_of(const CorrectUsage& command);
Decision decide_node(const DecisionContext& q, const NodeCommand& command);
Decision decide_plan(const DecisionContext& q, const TakePlan& command);
Decision decide_time(const DecisionContext& q, const Tick& command);
Decision decide_time(const DecisionContext& q, const NodeSilent& command);
Decision decide_time(const DecisionContext& q, const NextOccurrence& command);
Decision decide_time(const DecisionContext& q, const UsagePeriod& command);
// `after`: the policy of the new configuration.
Decision decide_config(const DecisionContext& q, const ApplyConfig& command, const Policy& after);
// New limits on accruing jobs, from a QOS or policy, do not stop jobs that accrue age already.
void preserve_accruals(const DecisionContext& q, const CowMap<std::string, Partition>& after,
                       const Policy& policy_after, Decision& d);
Decision decide_config(const DecisionContext& q, const Activate& command);

// What becomes of the usage of removed records: an association leaves it to its account, an account
// to the one above; that of QOS and wckeys is dropped. None if none of them had usage.
std::optional<UsageSet> usage_left_by(const DecisionContext& q,
                                      const CowMap<RecordKey, AccountingRecord>& after,
                                      const std::vector<RecordKey>& removed);

// TresDefined for every GPU type that has no TRES id yet.
void define_tres(const ClusterState& state, const std::vector<const Inventory*>& inventories,
                 std::vector<EventBody>& events);

}  // namespace ares::core
