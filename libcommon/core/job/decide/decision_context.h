// What the parts of decide() share: the question being decided, who may act, which jobs a selector means.
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

// --- who may ---------------------------------------------------------------------------------------------------------------------
inline bool may_act_on(const Policy& policy, UserId uid, const Job& job) {
  return job.spec->uid == uid || is_operator(policy, uid);
}

// --- which jobs ------------------------------------------------------------------------------------------------------------------
// One thing to act on: a record, or an array task that still waits in its array's record.
struct Target {
  JobKey key;
  const Job* record = nullptr;  // of the task if it has one, else of its array
  bool in_array = false;        // has no record of its own yet
  bool named =
      false;  // by the caller itself, not as part of an array or by a filter: worth a complaint
};

struct Selected {
  std::vector<Target>
      targets;  // ascending key, no duplicates; an array's key stands for its waiting tasks
  std::vector<std::string> missing;  // what was named and is not there: one sentence each
};

// An array that is named whole is its own record followed by its tasks' records. Filters skip what has ended.
Selected select(const DecisionContext& q, const Principal& who, const JobSelector& selector);

// Whether the tasks of arrays that go their own way leave those that still wait in few enough pieces: every start and end of a
// task copies these. Tasks that the caller may not act on do not count.
Status check_gaps(const DecisionContext& q, const Principal& who, const Selected& selected);

std::string job_text(const JobKey& key);  // "12" or "12_3"

TaskSplit split(const Target& target);

// --- time limits -----------------------------------------------------------------------------------------------------------------
// What bounds the job in this partition now; none = unlimited.
std::optional<Seconds> effective_time_limit(const Job& job, const Partition& partition);

// --- whether it could ever run (text of what is too big, or empty) ----------------------------------------------------------------
std::string why_impossible(const ClusterState& state, const JobSpec& spec,
                           const Partition& partition);

// The same of what it asks of the network between its nodes.
std::string why_network_forbids(const Policy& policy, const JobSpec& spec,
                                const Partition& partition);

// Whether the nodes of -w, were they empty, hold all of the job.
bool named_nodes_suffice(const ClusterState& state, const JobSpec& spec);

// --- one function a command --------------------------------------------------------------------------------------------------------
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
std::string subject_of(const ChangeAccounting& command);  // for the audit
std::string subject_of(const ResetUsage& command);
std::string subject_of(const CorrectUsage& command);
Decision decide_node(const DecisionContext& q, const NodeCommand& command);
Decision decide_plan(const DecisionContext& q, const TakePlan& command);
Decision decide_time(const DecisionContext& q, const Tick& command);
Decision decide_time(const DecisionContext& q, const NodeSilent& command);
Decision decide_time(const DecisionContext& q, const NextOccurrence& command);
Decision decide_time(const DecisionContext& q, const UsagePeriod& command);
// `after`: the policy that comes with it.
Decision decide_config(const DecisionContext& q, const ApplyConfig& command, const Policy& after);
// Limits on who gains age that come with a partition's QOS, or with a policy, take nothing from those who wait already.
void preserve_accruals(const DecisionContext& q, const CowMap<std::string, Partition>& after,
                       const Policy& policy_after, Decision& d);
Decision decide_config(const DecisionContext& q, const Activate& command);

// What becomes of the usage of what is removed: associations leave theirs to the account, accounts to the one above; that of QOS and
// wckeys is gone. Nothing: none of them had any.
std::optional<UsageSet> usage_left_by(const DecisionContext& q,
                                      const CowMap<RecordKey, AccountingRecord>& after,
                                      const std::vector<RecordKey>& removed);

// TresDefined for every GPU type that has no number yet.
void define_tres(const ClusterState& state, const std::vector<const Inventory*>& inventories,
                 std::vector<EventBody>& events);

}  // namespace ares::core
