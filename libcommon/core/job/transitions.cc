#include "core/job/transitions.h"

#include <array>

namespace ares::core {
namespace {

// One bit per state; the last bit means that there is no record.
using Mask = std::uint32_t;
constexpr std::size_t kStates = 14;
constexpr std::size_t kFroms = kStates + 1;

constexpr Mask bit(JobState s) {
  return Mask{1} << static_cast<unsigned>(s);
}
constexpr Mask kAbsent = Mask{1} << kStates;
constexpr Mask kPending = bit(JobState::pending);
constexpr Mask kConfiguring = bit(JobState::configuring);
constexpr Mask kRunning = bit(JobState::running);
constexpr Mask kSuspended = bit(JobState::suspended);
constexpr Mask kCompleting = bit(JobState::completing);
constexpr Mask kActive = kRunning | kSuspended;
constexpr Mask kHolding = kConfiguring | kActive | kCompleting;
constexpr Mask kTerminal = ((Mask{1} << kStates) - 1) & ~(kPending | kHolding);
constexpr Mask kSame = ~Mask{0};  // the state does not change
constexpr Mask kAll = (Mask{1} << kFroms) - 1;

struct Row {
  Mask from;
  JobEvent event;
  Verdict verdict;
  Mask to;
  std::string_view owed, remark;
};

using E = JobEvent;
constexpr Verdict kYes = Verdict::accepted, kLate = Verdict::ignored, kNo = Verdict::refused;

constexpr Row kRows[] = {
    {kAbsent, E::submitted, kYes, kPending, "", "an array begins as one record"},
    {kAll & ~kAbsent, E::submitted, kNo, 0, "", "job ids are never used twice"},

    {kAbsent, E::task_split, kYes, kPending, "",
     "the array has this task among its waiting ones; the task gets all settings of the array"},
    {kAll & ~kAbsent, E::task_split, kNo, 0, "", "the task already has a record of its own"},

    {kPending, E::held, kYes, kPending, "", "a user's hold never replaces an administrator's"},
    {kHolding, E::held, kNo, 0, "", "only pending jobs can be held; requeue it with hold"},
    {kTerminal | kAbsent, E::held, kNo, 0, "", "the job has ended"},

    {kPending, E::released, kYes, kPending, "", "an administrator's hold needs an operator"},
    {kHolding, E::released, kNo, 0, "", "the job is not held"},
    {kTerminal | kAbsent, E::released, kNo, 0, "", "the job has ended"},

    {kPending | kConfiguring | kActive, E::modified, kYes, kSame,
     "SetLimit to every node, if the time limit of an allocated job changes", ""},
    {kCompleting, E::modified, kNo, 0, "", "the job is ending"},
    {kTerminal | kAbsent, E::modified, kNo, 0, "", "the job has ended"},

    {kPending, E::dependency_met, kYes, kPending, "",
     "age counts from the last dependency that was met"},
    {kHolding | kTerminal | kAbsent, E::dependency_met, kLate, 0, "",
     "the job does not wait any longer"},

    {kPending, E::dependency_failed, kYes, kPending,
     "Ended, if the job asked to be cancelled then or waits for its gang",
     "the dependency stays failed, also if the target runs again"},
    {kHolding | kTerminal | kAbsent, E::dependency_failed, kLate, 0, "",
     "the job does not wait any longer"},

    {kPending, E::allocated, kYes, kConfiguring, "Prepare to every node",
     "the fence of the attempt is the position of this event"},
    {kHolding | kTerminal | kAbsent, E::allocated, kNo, 0, "",
     "an attempt starts only after the previous one has ended or was fenced"},

    {kConfiguring, E::node_ready, kYes, kConfiguring, "Started, when all nodes are ready",
     "no user code has run"},
    {kCompleting | kActive, E::node_ready, kLate, 0, "", "reported twice, or too late"},
    {kPending | kTerminal | kAbsent, E::node_ready, kLate, 0, "",
     "reported too late: the node gets a Kill"},

    {kConfiguring, E::started, kYes, kRunning, "Go to every node",
     "all nodes are ready; user code may run once this is durable"},
    {kActive, E::started, kNo, 0, "", "an attempt starts once"},
    {kPending | kCompleting | kTerminal | kAbsent, E::started, kNo, 0, "",
     "not every node is ready"},

    {kActive, E::node_running, kYes, kSame, "", ""},
    {kConfiguring, E::node_running, kNo, 0, "", "no node opens the gate before Started is durable"},
    {kPending | kCompleting | kTerminal | kAbsent, E::node_running, kLate, 0, "",
     "reported too late"},

    {kConfiguring, E::launch_failed, kYes, kCompleting, "Kill to every node still in it",
     "no user code has run. If the node failed: pending again after a back-off, without that node, "
     "never held. If the job is at fault: FAILED"},
    {kActive | kCompleting, E::launch_failed, kYes, kSame, "",
     "the node is excluded from the next attempt; another event ends this one"},
    {kPending | kTerminal | kAbsent, E::launch_failed, kLate, 0, "", "reported too late"},

    {kConfiguring | kActive, E::ending_began, kYes, kCompleting, "Kill to every node still in it",
     "cancelled, requeued, preempted, timed out or node lost: the first cause is kept"},
    {kCompleting, E::ending_began, kYes, kCompleting, "Kill to every node still in it",
     "only a cancellation, and only if the job was to be requeued"},
    {kPending | kTerminal | kAbsent, E::ending_began, kLate, 0, "", "no attempt is left to end"},

    {kActive, E::batch_finished, kYes, kCompleting, "Kill to the other nodes",
     "the script has ended; its exit status decides the final state"},
    {kCompleting, E::batch_finished, kYes, kCompleting, "",
     "the exit status is recorded; the first cause of the end is kept"},
    {kConfiguring, E::batch_finished, kNo, 0, "", "no script runs before Started is durable"},
    {kPending | kTerminal | kAbsent, E::batch_finished, kLate, 0, "", "reported too late"},

    {kHolding, E::node_released, kYes, kSame,
     "Forget to the node; Ended or Requeued when it was the last",
     "the node's resources are free again"},
    {kPending | kTerminal | kAbsent, E::node_released, kLate, 0, "", "released before"},

    {kHolding, E::node_fenced, kYes, kSame, "Ended or Requeued when it was the last",
     "counts as released for the job; the resources stay charged until the node registers clean"},
    {kPending | kTerminal | kAbsent, E::node_fenced, kLate, 0, "", "nothing is left on the node"},

    {kAll, E::charge_cleared, kYes, kSame, "",
     "changes only the charges of the node, in any state of the job"},

    {kPending, E::ended, kYes,
     kPending | bit(JobState::cancelled) | bit(JobState::completed) | bit(JobState::failed) |
         bit(JobState::deadline),
     "notification of dependent jobs",
     "cancelled before it ran; an array whose other tasks still run stays until the last of them "
     "ends"},
    {kCompleting, E::ended, kYes, kTerminal, "notification of dependent jobs",
     "released or fenced on every node"},
    {kConfiguring | kActive, E::ended, kNo, 0, "", "its nodes have not released it"},
    {kTerminal | kAbsent, E::ended, kLate, 0, "", "it has ended"},

    {kCompleting, E::requeued, kYes, kPending, "",
     "released or fenced on every node, and the job is to run again"},
    {kTerminal, E::requeued, kYes, kPending, "",
     "by request; an array that had ended becomes pending again with its task"},
    {kPending, E::requeued, kNo, 0, "", "the job is pending"},
    {kConfiguring | kActive, E::requeued, kNo, 0, "", "its nodes have not released it"},
    {kAbsent, E::requeued, kNo, 0, "", "no such job"},

    {kActive, E::signalled, kYes, kSame, "Signal to every node, or the first",
     "not part of the state: the node remembers the last signal"},
    {kPending | kConfiguring, E::signalled, kNo, 0, "", "the job does not run yet"},
    {kCompleting, E::signalled, kNo, 0, "", "the job is ending"},
    {kTerminal | kAbsent, E::signalled, kNo, 0, "", "the job has ended"},

    {kTerminal, E::forgotten, kYes, kAbsent, "",
     "not while another job waits for it, and not a task before its array; accounting keeps it"},
    {kPending | kHolding, E::forgotten, kNo, 0, "", "the job has not ended"},
    {kAbsent, E::forgotten, kLate, 0, "", "forgotten before"},

    {kAll, E::late_result, kLate, 0, "", "a report with an old fence: recorded, changes no state"},

    {kActive, E::time_noticed, kYes, kSame, "",
     "the user gets a mail about the used share of the time limit; each share once per attempt"},
    {kPending | kConfiguring | kCompleting | kTerminal | kAbsent, E::time_noticed, kLate, 0, "",
     "the attempt does not run"},

    {kPending, E::accrual_began, kYes, kPending, "",
     "a limit on the number of jobs that accrue age priority allows it"},
    {kHolding | kTerminal | kAbsent, E::accrual_began, kLate, 0, "",
     "the job does not wait any longer"},

    {kCompleting, E::expedite_began, kYes, kCompleting, "",
     "the job failed and returns first: no other job starts on its healthy nodes"},
    {kPending | kConfiguring | kActive | kTerminal | kAbsent, E::expedite_began, kLate, 0, "",
     "no failed attempt is ending"},

    {kPending | kCompleting, E::expedite_expired, kYes, kSame, "",
     "other jobs may start on its nodes; it still is the first in the order"},
    {kConfiguring | kActive | kTerminal | kAbsent, E::expedite_expired, kLate, 0, "",
     "no nodes are kept for it"},

    {kActive | kCompleting, E::checkpoint_committed, kYes, kSame,
     "CheckpointKnown to the first node",
     "the next attempt begins from it, and preemption counts only the work since"},
    {kPending | kConfiguring | kTerminal | kAbsent, E::checkpoint_committed, kLate, 0, "",
     "only the current attempt commits checkpoints"},

    {kActive | kCompleting, E::checkpoint_restored, kYes, kSame, "",
     "the record tells from which checkpoint the attempt began"},
    {kPending | kConfiguring | kTerminal | kAbsent, E::checkpoint_restored, kLate, 0, "",
     "only the current attempt begins from a checkpoint"},

    {kPending, E::earmarked, kYes, kPending, "EndingBegan of the jobs that are preempted for it",
     "their resources are reserved for it until they have released them"},
    {kHolding, E::earmarked, kNo, 0, "", "the job already has resources"},
    {kTerminal | kAbsent, E::earmarked, kNo, 0, "", "the job has ended"},

    {kRunning, E::suspended, kYes, kSuspended, "SetSuspended to every node",
     "its CPUs are free for other jobs; memory, GPUs and licenses stay allocated; the time is not "
     "counted towards the limit"},
    {kSuspended, E::suspended, kYes, kSuspended, "SetSuspended to every node",
     "only by an operator, if it was suspended for another job: it no longer resumes "
     "automatically"},
    {kPending | kConfiguring, E::suspended, kNo, 0, "", "the job does not run yet"},
    {kCompleting, E::suspended, kNo, 0, "", "the job is ending"},
    {kTerminal | kAbsent, E::suspended, kNo, 0, "", "the job has ended"},

    {kSuspended, E::resumed, kYes, kRunning, "SetSuspended to every node",
     "only with its own CPUs, which no other job may hold then"},
    {kPending | kConfiguring | kRunning, E::resumed, kNo, 0, "", "the job is not suspended"},
    {kCompleting, E::resumed, kNo, 0, "", "the job is ending"},
    {kTerminal | kAbsent, E::resumed, kNo, 0, "", "the job has ended"},
};

struct Table {
  std::array<std::array<Transition, kJobEvents>, kFroms> cell{};
  bool complete = true;  // every pair exactly once
};

constexpr Table make_table() {
  Table table;
  std::array<std::array<int, kJobEvents>, kFroms> seen{};
  for (const Row& row : kRows) {
    for (std::size_t from = 0; from < kFroms; ++from) {
      if (!(row.from >> from & 1)) continue;
      const auto event = static_cast<std::size_t>(row.event);
      ++seen[from][event];
      Mask to = row.to;
      if (row.verdict == Verdict::accepted && to == kSame) to = Mask{1} << from;
      table.cell[from][event] = Transition{row.verdict, to, row.owed, row.remark};
    }
  }
  for (const auto& events : seen) {
    for (int times : events) table.complete = table.complete && times == 1;
  }
  return table;
}

constexpr Table kTable = make_table();
static_assert(kTable.complete,
              "a pair of state and event is missing from the table, or there twice");

constexpr std::string_view kNames[] = {
    "Submitted",         "TaskSplit",       "Held",
    "Released",          "Modified",        "DependencyMet",
    "DependencyFailed",  "Allocated",       "NodeReady",
    "Started",           "NodeRunning",     "LaunchFailed",
    "EndingBegan",       "BatchFinished",   "NodeReleased",
    "NodeFenced",        "ChargeCleared",   "Ended",
    "Requeued",          "Signalled",       "Forgotten",
    "LateResult",        "TimeNoticed",     "Earmarked",
    "Suspended",         "Resumed",         "AccrualBegan",
    "ExpediteBegan",     "ExpediteExpired", "CheckpointCommitted",
    "CheckpointRestored"};
static_assert(std::size(kNames) == kJobEvents);

std::string names_of(Mask mask) {
  if (mask == kAll) return "any";
  std::string out;
  const auto add = [&](std::string_view name) {
    if (!out.empty()) out += ", ";
    out += name;
  };
  if ((mask & kTerminal) == kTerminal) {
    mask &= ~kTerminal;
    out = "terminal";
  }
  for (std::size_t s = 0; s < kStates; ++s) {
    if (mask >> s & 1) add(to_string(static_cast<JobState>(s)));
  }
  if (mask & kAbsent) add("no record");
  return out;
}

}  // namespace

std::string_view to_string(JobEvent e) {
  return kNames[static_cast<std::size_t>(e)];
}

const Transition& transition(std::optional<JobState> from, JobEvent event) {
  const std::size_t row = from ? static_cast<std::size_t>(*from) : kStates;
  return kTable.cell[row][static_cast<std::size_t>(event)];
}

bool may_lead_to(const Transition& t, JobState to) {
  return (t.to & bit(to)) != 0;
}

std::string print_transitions() {
  std::string out = ".SH TRANSITIONS\n";
  std::optional<JobEvent> last;
  for (const Row& row : kRows) {
    if (last != row.event) {
      out += ".SS ";
      out += to_string(row.event);
      out += '\n';
      last = row.event;
    }
    out += ".TP\n.B " + names_of(row.from);
    switch (row.verdict) {
      case Verdict::accepted:
        if (row.to != kSame) out += " \\(-> " + names_of(row.to);
        out += '\n';
        break;
      case Verdict::ignored: out += "\nIgnored.\n"; break;
      case Verdict::refused: out += "\nRefused.\n"; break;
    }
    if (!row.remark.empty()) {
      out += row.remark;
      out += ".\n";
    }
    if (!row.owed.empty()) {
      out += "Effects: ";
      out += row.owed;
      out += ".\n";
    }
    if (row.verdict == Verdict::accepted && row.remark.empty() && row.owed.empty()) {
      out += "The state stays.\n";
    }
  }
  return out;
}

}  // namespace ares::core
