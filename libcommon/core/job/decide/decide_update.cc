// Changing jobs: priority, time limit, throttle of an array, and fields of their specifications.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/duration.h"
#include "base/printable.h"
#include "core/job/checks/container_checks.h"
#include "core/job/checks/default_memory.h"
#include "core/job/checks/spec_fields.h"
#include "core/job/checks/submit_checks.h"
#include "core/job/decide/bulk_action.h"
#include "core/job/gang.h"
#include "core/job/transitions.h"
#include "core/state/indexes.h"
#include "model/job/requested.h"
#include "model/job/text_check.h"

namespace ares::core {
namespace {

constexpr std::string_view kBadLimit =
    "Requested time limit is invalid (missing or exceeds some limit)";

// The current time limit: of the allocation, else in the first requested partition.
std::optional<Seconds> current_limit(const ClusterState& state, const Job& job) {
  if (job.allocation && holds_resources(job.state)) return job.allocation->time_limit;
  const Partition* partition = state.partitions.find(job.spec->partitions.front());
  return partition ? effective_time_limit(job, *partition) : job.time_limit;
}

// The limit that an update gives to a job; 0 = unlimited, none = the one it has.
using NewLimit = std::optional<Seconds>;

constexpr Seconds kLongestChange{std::int64_t{1} << 40};  // with it no sum overflows

Result<NewLimit> new_limit(const ClusterState& state, const Job& job, const UpdateJob& c) {
  if (!c.set_time_limit) return std::nullopt;
  if (c.time_limit_change == Seconds{0}) return c.time_limit.value_or(Seconds{0});
  const std::optional<Seconds> now = current_limit(state, job);
  if (!now)
    return fail(ErrorCode::invalid_argument,
                "it has no time limit that could be changed by so much; give it one first");
  const Seconds change = std::clamp(c.time_limit_change, -kLongestChange, kLongestChange);
  const Seconds changed = *now + change;
  if (changed <= Seconds{0})
    return fail(ErrorCode::invalid_argument, "its time limit of " + format_duration(*now) +
                                                 " is not longer than the " +
                                                 format_duration(-change) + " to take away");
  return changed;
}

// The specifications that a command changes. Jobs that share one also share the changed one.
class SpecChange {
 public:
  struct Verdict {
    std::optional<Error> refused;
    std::shared_ptr<const JobSpec> spec;  // null: nothing changes
  };

  SpecChange(const DecisionContext& q, const Principal& who, const UpdateJob& command)
      : q_(q), who_(who), command_(command), use_(q.state, q.policy, q.now, q.sums) {}

  // Looks up the fields of the command; invalid_argument if one of them cannot be changed.
  Status learn_fields() {
    for (const std::string& name : command_.fields) {
      const SpecField* field = find_spec_field(name);
      if (!field || !command_.values)
        return fail(ErrorCode::invalid_argument,
                    "this controller cannot change " + quote(name) + " of a job");
      fields_.push_back(field);
    }
    return {};
  }

  bool sets(std::string_view name) const {
    return std::any_of(fields_.begin(), fields_.end(),
                       [&](const SpecField* field) { return field->name == name; });
  }
  const SpecField* needs_pending() const {
    for (const SpecField* field : fields_)
      if (!field->alive) return field;
    return nullptr;
  }

  // Checks the limits on submitted jobs where the job moves to, with earlier moves of the command.
  Status move(const Target& t, const JobSpec& changed) {
    const Job& job = *t.record;
    const JobSpec& before = *job.spec;
    if (job.state != JobState::pending ||
        (changed.account == before.account && changed.qos == before.qos &&
         changed.partitions.front() == before.partitions.front()))
      return {};
    const std::uint64_t jobs = job.array && !t.in_array ? job.array->waiting.count() : 1;
    const std::size_t unmoved = use_.mark();
    use_.withdraw(before, before.partitions.front(), jobs);
    if (Status good = check_submitted(use_, changed, jobs); !good) {
      use_.roll_back_to(unmoved);
      return good;
    }
    use_.submit(changed, changed.partitions.front(), jobs);
    return {};
  }

  const Verdict& evaluate(const Job& job, const NewLimit& limit) {
    const auto [found, added] = verdicts_.try_emplace({job.spec.get(), job.time_limit, limit});
    if (added) found->second = make(job, limit);
    return found->second;
  }

 private:
  Verdict make(const Job& job, const NewLimit& limit) const {
    JobSpec changed = *job.spec;
    for (const SpecField* field : fields_) field->copy(*command_.values, changed);
    // A client that knows of no fractions changes the CPUs alone.
    if ((sets("cpus_per_task") && !sets("cpu_thousandths_per_task")) ||
        cpu_thousandths_per_task(changed) % kWholeCpu == 0)
      changed.cpu_thousandths_per_task = 0;
    follow_default_memory(*job.spec, changed);
    require_container_feature(changed);
    if (Status good = check(job, changed, limit); !good) return {good.error(), nullptr};
    if (changed == *job.spec) return {};
    return {{}, std::make_shared<const JobSpec>(std::move(changed))};
  }

  // A job whose memory is the default of its partitions gets that of its new ones, or what is asked for instead.
  void follow_default_memory(const JobSpec& before, JobSpec& changed) const {
    if (changed.partitions.empty() || sets("memory_per_cpu")) return;
    const bool other_memory = changed.memory_per_node != before.memory_per_node ||
                              changed.memory_per_gpu != before.memory_per_gpu;
    if (changed.partitions == before.partitions && !other_memory) return;
    JobSpec asked = before;
    asked.memory_per_cpu.reset();
    const std::optional<Bytes> had = default_memory(q_.state, asked, before.partitions);
    if (had && changed.memory_per_cpu == had) changed.memory_per_cpu.reset();
    if (const auto now = default_memory(q_.state, changed, changed.partitions))
      changed.memory_per_cpu = now;
  }

  bool touches(SpecField::Touches what) const {
    return std::any_of(fields_.begin(), fields_.end(),
                       [&](const SpecField* field) { return field->touches == what; });
  }

  Status check(const Job& job, JobSpec& changed, const NewLimit& limit) const {
    if (Status good = check_text(changed); !good) return good;
    if (Status good = check_gang(changed); !good) return good;
    if (waits_with_gang(job) && sets("partitions") && changed.partitions != job.spec->partitions)
      return fail(ErrorCode::invalid_argument,
                  "it waits for its gang, all members of which are in partition " +
                      job.spec->partitions.front());
    if (changed.nice < job.spec->nice && !is_operator(q_.policy, who_.uid)) {
      return fail(ErrorCode::permission_denied,
                  "user " + who_.user + " may not lower the nice value below " +
                      std::to_string(job.spec->nice) +
                      ": only operators and administrators may raise a job in the queue");
    }
    const auto& dependencies = changed.dependencies;
    const bool by_name =
        std::any_of(dependencies.begin(), dependencies.end(),
                    [](const Dependency& d) { return d.kind == DependencyKind::singleton; });
    if (by_name && changed.name != job.spec->name)
      return fail(ErrorCode::invalid_argument,
                  "it waits for others of its name (singleton): set its dependency first");

    JobSpec limited = changed;
    limited.time_limit = limit ? limit : job.time_limit;
    if (touches(SpecField::times) || (command_.set_time_limit && job.state == JobState::pending)) {
      if (Status good = check_times(limited, q_.now); !good) return good;
    }
    const bool pending = job.state == JobState::pending;
    if (pending &&
        (sets("reservations") || sets("account") || sets("time_min") || command_.set_time_limit)) {
      if (Status good = check_reservations(q_.state, limited); !good) return good;
    }
    if (!touches(SpecField::shape)) return pending ? check_accounts(job, limited) : Status{};
    // The numbers of nodes and tasks include those for its spare nodes.
    if (job.spec->spare_nodes > 0 &&
        (changed.min_nodes != job.spec->min_nodes || changed.tasks != job.spec->tasks))
      return fail(ErrorCode::invalid_argument,
                  "the number of nodes or tasks of a job with --spare-nodes cannot be changed; "
                  "submit it again");
    if (Status good = check_resources(q_.policy, changed); !good) return good;
    Result<std::vector<std::string>> partitions = partitions_of(q_.state, changed);
    if (!partitions) return fail(partitions.error());
    changed.partitions = std::move(*partitions);
    if (sets("partitions")) {
      if (Status good = check_open(q_.state, changed.partitions); !good) return good;
    }
    limited.partitions = changed.partitions;
    if (pending)
      if (Status good = check_accounts(job, limited); !good) return good;
    return check_partitions(q_, limited, changed.partitions);
  }

  // Checks account, QOS and wckey if they change, and the limits for which submissions are refused.
  Status check_accounts(const Job& job, const JobSpec& changed) const {
    const JobSpec& before = *job.spec;
    if (changed.account != before.account || changed.qos != before.qos ||
        changed.partitions != before.partitions || changed.reservations != before.reservations)
      if (Status good = check_account(q_, changed); !good) return good;
    if (changed.wckey != before.wckey)
      if (Status good = check_wckey(q_, changed); !good) return good;
    return check_limits(q_, changed);
  }

  const DecisionContext& q_;
  const Principal& who_;
  const UpdateJob& command_;
  std::vector<const SpecField*> fields_;
  std::map<std::tuple<const JobSpec*, std::optional<Seconds>, NewLimit>, Verdict> verdicts_;
  LimitUse use_;
};

// Why the caller may not do this to the job, always permission_denied; none if they may.
std::optional<Error> denied(const BulkAction& action, const Target& t, const UpdateJob& c,
                            const NewLimit& limit) {
  if (is_operator(action.context().policy, action.who().uid)) return std::nullopt;
  const std::string user = "user " + action.who().user + " may not ";
  const std::string job = "job " + job_text(t.key);
  if (c.priority) {
    return Error{ErrorCode::permission_denied,
                 user + "set the priority of " + job + ": only operators and administrators may"};
  }
  if (!limit) return std::nullopt;
  const std::optional<Seconds> now = current_limit(action.context().state, *t.record);
  if (*limit > Seconds{0} && (!now || *limit <= *now)) return std::nullopt;
  return Error{ErrorCode::permission_denied,
               user + "raise the time limit of " + job +
                   ": its owner may only lower it; operators and administrators may raise it"};
}

// Refuses to wait for a job that itself waits for this one, directly or not: neither would start.
std::optional<Error> dependency_cycle(const ClusterState& state, const Target& t,
                                      const std::vector<Dependency>& waiting) {
  std::vector<JobKey> targets;
  for (const Dependency& d : waiting)
    if (d.kind != DependencyKind::singleton) targets.push_back(d.target);
  const std::optional<JobKey> found = first_waiting_for(state, targets, t.key);
  if (!found) return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               "Job dependency problem: job " + job_text(*found) +
                   (*found == t.key ? " would wait for itself" : " waits for this job")};
}

// Priority 0 holds a job, as in Slurm, and a higher one ends an administrator's hold.
std::optional<EventBody> change_of_hold(const Target& t, const UpdateJob& c) {
  if (!c.priority) return std::nullopt;
  const Hold hold = t.record->hold;
  if (*c.priority > 0)
    return hold == Hold::admin ? std::optional<EventBody>(Released{t.key}) : std::nullopt;
  if (hold == Hold::admin) return std::nullopt;
  return Held{t.key, Hold::admin, Reason::job_held_admin};
}

void update(BulkAction& action, const Target& t, const UpdateJob& c, SpecChange& change) {
  const Job& job = *t.record;
  const bool array = job.array && !t.in_array;
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    action.add_problem(code, "job " + job_text(t.key) + ": " + why);
  };
  if (c.array_throttle && !array && t.named)
    return refuse(ErrorCode::invalid_argument,
                  t.key.task.is_none()
                      ? "it is not an array, so it has no bound on running tasks"
                      : "the bound on running tasks is the whole array's: name job " +
                            std::to_string(t.key.job.value()));
  if (c.array_throttle.value_or(0) > 0 && array && waits_with_gang(job))
    return refuse(ErrorCode::failed_precondition,
                  "its tasks start together with their gang, so their number cannot be limited "
                  "before");
  const bool all_split = array && job.array->waiting.empty() && !is_terminal(job.state);
  if (all_split && !c.array_throttle) return;  // its tasks are separate targets
  if (!accepts(job.state, JobEvent::modified))
    return action.refuse_target(t, transition(job.state, JobEvent::modified).remark);
  const Result<NewLimit> limit = new_limit(action.context().state, job, c);
  if (!limit) return refuse(limit.error().code, limit.error().message);
  if (const auto error = denied(action, t, c, *limit))
    return action.add_problem(error->code, error->message);
  if (const SpecField* field = change.needs_pending(); field && job.state != JobState::pending) {
    return action.refuse_target(t, "its " + std::string(field->title) +
                                       " can only be changed while it is pending (" +
                                       std::string(to_string(job.state)) + ")");
  }
  const bool holds = c.priority && *c.priority == 0;
  if (holds && !accepts(job.state, JobEvent::held))
    return action.refuse_target(t, "priority 0 holds a job, and it is no longer pending: " +
                                       std::string(transition(job.state, JobEvent::held).remark));
  const SpecChange::Verdict& verdict = change.evaluate(job, *limit);
  if (verdict.refused) return refuse(verdict.refused->code, verdict.refused->message);
  if (verdict.spec)
    if (Status good = change.move(t, *verdict.spec); !good)
      return refuse(good.error().code, good.error().message);

  Modified event;
  event.key = t.key;
  if (!holds) event.priority = c.priority;
  event.set_time_limit = limit->has_value();
  if (event.set_time_limit && **limit > Seconds{0}) event.time_limit = **limit;
  event.spec = verdict.spec;
  const JobSpec& spec = event.spec ? *event.spec : *job.spec;
  if (spec.name != job.spec->name) event.was_named = job.spec->name;
  if (array) event.array_throttle = c.array_throttle;
  CheckedDependencies checked;
  if (change.sets("dependencies")) {
    Result<CheckedDependencies> found =
        check_dependencies(action.context(), action.who(), spec, t.key);
    if (!found) return refuse(found.error().code, found.error().message);
    if (const auto error = dependency_cycle(action.context().state, t, found->waiting))
      return refuse(error->code, error->message);
    checked = std::move(*found);
    event.waiting_for = checked.waiting;
  }
  std::optional<EventBody> hold = all_split ? std::nullopt : change_of_hold(t, c);
  if (!event.priority && !event.set_time_limit && !event.spec && !event.waiting_for &&
      !event.array_throttle)
    return hold ? action.add_event(t, *std::move(hold)) : action.mark_done(t);
  action.add_event(t, std::move(event));
  if (hold) action.add_second_event(*std::move(hold));
  for (const auto& [met, not_before] : checked.delayed)
    action.add_followup(DependencyMet{t.key, met, not_before});
  for (const Dependency& failed : checked.failed)
    action.add_followup(DependencyFailed{t.key, failed});
}

}  // namespace

Decision decide_jobs(const DecisionContext& q, const Principal& who, const UpdateJob& c) {
  if (!c.priority && !c.set_time_limit && !c.array_throttle && c.fields.empty())
    return refuse(ErrorCode::invalid_argument, "nothing to change: name at least one field");
  if (c.set_time_limit && c.time_limit && *c.time_limit <= Seconds{0}) {
    return refuse(ErrorCode::invalid_argument,
                  std::string(kBadLimit) + ": it must be at least a second");
  }
  if (c.time_limit_change != Seconds{0} && (!c.set_time_limit || c.time_limit))
    return refuse(ErrorCode::invalid_argument,
                  "a time limit and a change of it exclude each other");
  SpecChange change(q, who, c);
  if (Status known = change.learn_fields(); !known)
    return refuse(known.error().code, known.error().message);
  return BulkAction(q, who, "update").each(c.jobs, [&](BulkAction& action, const Target& t) {
    update(action, t, c, change);
  });
}

std::optional<Seconds> effective_time_limit(const Job& job, const Partition& partition) {
  if (job.time_limit) {
    if (*job.time_limit == Seconds{0}) return std::nullopt;
    return job.time_limit;
  }
  if (partition.default_time && partition.max_time)
    return std::min(*partition.default_time, *partition.max_time);
  return partition.default_time ? partition.default_time : partition.max_time;
}

}  // namespace ares::core
