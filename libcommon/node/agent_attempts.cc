// Attempts on the node: launches, commands to them, and what the executor tells of them. The session with
// the controller is in agent.cc.
#include <algorithm>
#include <set>
#include <utility>

#include "node/agent.h"
#include "node/step_ledger.h"

namespace ares::node {
namespace {

constexpr std::size_t kForgottenKept = 20'000;
// A job that asks for less is not killed for what its shell needs; it is charged what it asks for.
constexpr Bytes kLeastMemoryLimit = Bytes::mib(30);
constexpr const char* kEndedBefore = "its end was reported and acknowledged before";

bool jobs_fault(ErrorCode code) {
  return code == ErrorCode::not_found || code == ErrorCode::permission_denied ||
         code == ErrorCode::invalid_argument;
}

// Whether the script runs on this node.
bool has_script(const LaunchSpec& launch) {
  return launch.rank == 0 || (launch.spec->container && launch.spec->container->is_per_rank);
}

}  // namespace

// --- attempts -----------------------------------------------------------------------------------

NodeAgent::Entry* NodeAgent::current(const AttemptKey& key, Fence fence) {
  auto it = attempts_.find(key);
  return it == attempts_.end() || it->second.intent.fence != fence ? nullptr : &it->second;
}

void NodeAgent::handle(const Prepare& message, Moment now) {
  const LaunchSpec& launch_spec = message.launch;
  const AttemptKey& key = launch_spec.attempt;
  const Fence fence = launch_spec.fence;
  if (auto it = attempts_.find(key); it != attempts_.end()) {
    if (it->second.intent.fence == fence) resend_answer(it->second, now);
    return;  // another fence is an older launch's or a restored database's: no answer
  }
  auto decline = [&](const char* cause) { send(LaunchRefused{key, fence, true, cause}); };
  if (const auto ended = forgotten_.find(key); ended != forgotten_.end()) {
    // Its own fence: the controller prepares an attempt that has run, because an older database was
    // restored.
    if (ended->second == fence)
      return progress(bare_report(key, fence, AttemptPhase::lost, kEndedBefore));
    return decline("the attempt has ended on this node already");
  }
  if (launch_spec.share.incarnation > identity_.incarnation) return;  // Welcome has yet to arrive
  if (launch_spec.share.incarnation < identity_.incarnation)
    return decline("it was meant for the node before its restart");
  if (!supersede(launch_spec, now)) return decline("a later attempt of the job is on this node");
  if (!unsaved_.empty() && !save_identity()) return refuse(key, fence, true, unsaved_, now);
  if (!cpus_are_left(key, launch_spec.share.cpu_ids, now)) {
    held_.insert_or_assign(key, message);
    return;
  }
  if (waits_for_gpus(message, now)) return;
  raise_position(Lsn(fence.value()));  // on disk with the attempt's records

  Result<UserIdentity> user = users_.find(launch_spec.spec->uid, launch_spec.spec->gid);
  if (!user) return refuse(key, fence, !jobs_fault(user.error().code), user.error().message, now);
  if (has_script(launch_spec) && !message.script)
    return refuse(key, fence, true, "the controller sent no batch script", now);

  const StepSpec step = step_of(launch_spec, std::move(*user));
  const IntentRecord intent{
      key,     fence, identity_.incarnation, setup_.boot_id, launch_spec.rank, launch_spec.leased,
      now.wall};
  if (Status written = write_records(message, step, intent); !written) {
    (void)spool_.remove(key);
    return refuse(key, fence, true, "cannot write to the node's spool: " + written.error().message,
                  now);
  }
  Entry entry;
  entry.intent = intent;
  entry.report = bare_report(key, fence, AttemptPhase::accepted);
  entry.gpus = launch_spec.share.gpus;
  entry.cpu_ids = launch_spec.share.cpu_ids;
  attempts_.insert_or_assign(key, std::move(entry));
  look_at_gpus(now);
  launch(step, now);
}

// --- clean GPUs ---------------------------------------------------------------------------------

void NodeAgent::look_at_gpus(Moment now) {
  if (!setup_.look_at_gpus) return;
  std::set<GpuIndex> taken;
  for (const auto& [key, entry] : attempts_)
    if (!has_ended(entry.report.phase)) taken.insert(entry.gpus.begin(), entry.gpus.end());
  idle_gpus_.set_taken(taken, now.boot);
  if (idle_gpus_.start_look(now.boot)) setup_.look_at_gpus();
}

// A held launch has left no trace on the node: a Kill that comes meanwhile precedes it, as it does if it
// overtakes it on the way.
bool NodeAgent::waits_for_gpus(const Prepare& message, Moment now) {
  if (!setup_.look_at_gpus) return false;
  const LaunchSpec& launch = message.launch;
  switch (idle_gpus_.of(launch.share.gpus, now.boot)) {
    case IdleGpus::Verdict::clean: return false;
    case IdleGpus::Verdict::unknown: held_.insert_or_assign(launch.attempt, message); break;
    case IdleGpus::Verdict::unclean:
      refuse(launch.attempt, launch.fence, true, idle_gpus_.fault(), now);
      break;
  }
  look_at_gpus(now);
  return true;
}

void NodeAgent::gpus_looked_at(const GpuLook& look, Moment now) {
  const std::string before = fault();
  idle_gpus_.looked(look, now.boot);
  if (fault() != before && connected_ && welcomed_) heartbeat(now);
  start_held(now);
  look_at_gpus(now);
}

// --- CPUs of suspended attempts -----------------------------------------------------------------

// A job that saves its state runs on for a while after it was suspended. A supervisor of an earlier release, or one that
// cannot write its records, never tells that it has stopped: so nothing waits for longer than that can take.
bool NodeAgent::is_stopping(const Entry& entry, Moment now) const {
  return now.boot < entry.stopping_until && entry.suspended_by > Lsn{} &&
         entry.report.phase == AttemptPhase::running && entry.report.stopped < entry.suspended_by &&
         executor_->tells_stopped();
}

// The controller lends the CPUs of an attempt as soon as it has suspended it.
bool NodeAgent::cpus_are_left(const AttemptKey& key, const std::vector<std::uint32_t>& cpu_ids,
                              Moment now) {
  bool left = true;
  for (const auto& [other, entry] : attempts_) {
    if (other == key || !is_stopping(entry, now)) continue;
    const bool shared = cpu_ids.empty() || entry.cpu_ids.empty() ||
                        std::find_first_of(cpu_ids.begin(), cpu_ids.end(), entry.cpu_ids.begin(),
                                           entry.cpu_ids.end()) != cpu_ids.end();
    if (!shared) continue;
    left = false;
    look_at_held_at_ = std::min(look_at_held_at_.value_or(BootTime::max()), entry.stopping_until);
  }
  return left;
}

// What has to wait on is held again.
void NodeAgent::start_held(Moment now) {
  look_at_held_at_.reset();
  for (const auto& [key, message] : std::exchange(held_, {})) handle(message, now);
  std::vector<SetSuspended> resumes;
  for (const auto& [key, entry] : attempts_)
    if (entry.held_resume) resumes.push_back(*entry.held_resume);
  for (const SetSuspended& message : resumes) handle(message, now);
}

// --- parts of a launch --------------------------------------------------------------------------

StepSpec NodeAgent::step_of(const LaunchSpec& launch, UserIdentity user) const {
  StepSpec step{launch, std::move(user), !setup_.inventory.gpus.empty()};
  // Without memory in the allocation nothing was reserved, but the node has no more than this.
  step.memory_limit = launch.share.memory.value() > 0
                          ? std::max(launch.share.memory, kLeastMemoryLimit)
                          : setup_.inventory.memory;
  step.max_processes = setup_.max_processes_per_cpu * std::max(launch.share.cpus, 1u);
  step.prolog = setup_.prolog;
  step.epilog = setup_.epilog;
  step.task_prolog = setup_.task_prolog;
  step.task_epilog = setup_.task_epilog;
  step.pam_service = setup_.pam_service;
  step.allocation_timeout = setup_.allocation_timeout;
  step.slurm_variables = setup_.slurm_variables;
  if (!setup_.private_tmp.empty())
    step.private_tmp = setup_.private_tmp + "/" + directory_name(launch.attempt);
  const std::vector<GpuIndex>& own = launch.share.gpus;
  for (const auto& [gpu, devices] : setup_.gpu_devices)
    if (std::find(own.begin(), own.end(), gpu) == own.end())
      step.denied_devices.insert(step.denied_devices.end(), devices.begin(), devices.end());
  step.binding = bind_step(launch, setup_.cpu_layout, setup_.gpu_numa_nodes);
  // Of a job whose CPUs the controller did not choose. Its number of CPUs limits its time on them.
  if (launch.share.cpu_ids.empty()) step.binding.usable_cpus = setup_.offered_cpus;
  step.visible_gpus = visible_gpus(own);
  step.gpu_cpus = cpus_near_gpus(own);
  step.cpu_layout = setup_.cpu_layout;
  return step;
}

// Those of the inventory, else those of the NUMA nodes of the GPU. Nothing at all where that is known of none.
std::vector<IntervalSet> NodeAgent::cpus_near_gpus(const std::vector<GpuIndex>& own) const {
  std::vector<IntervalSet> near(own.size());
  bool is_known = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (const Gpu& gpu : setup_.inventory.gpus)
      if (gpu.index == own[i])
        for (const std::uint32_t core : gpu.cores) near[i].insert(core);
    const auto nodes = setup_.gpu_numa_nodes.find(own[i]);
    if (near[i].empty() && nodes != setup_.gpu_numa_nodes.end())
      near[i] = setup_.cpu_layout.cpus_near(nodes->second);
    is_known = is_known || !near[i].empty();
  }
  return is_known ? near : std::vector<IntervalSet>();
}

// What the driver's libraries call the job's GPUs; empty: as the node numbers them. Libraries number the
// GPUs whose device files they can open: where the kernel keeps a job from those of others, from 0.
std::vector<std::string> NodeAgent::visible_gpus(const std::vector<GpuIndex>& own) const {
  const bool confined = setup_.enforced.find("devices") != std::string::npos;
  if (setup_.gpu_names.empty() && !confined) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto name = setup_.gpu_names.find(own[i]);
    names.push_back(name != setup_.gpu_names.end() ? name->second
                                                   : std::to_string(confined ? i : own[i].value()));
  }
  return names;
}

void NodeAgent::resend_answer(Entry& entry, Moment now) {
  if (entry.refusal) return send(*entry.refusal);
  progress(entry.report);
  if (entry.report.phase != AttemptPhase::accepted || entry.kill_requested) return;
  if (entry.is_adopted) return;  // the executor goes on with it by itself
  std::unique_ptr<AttemptDir> dir = spool_.open(entry.intent.attempt);
  Result<std::string> text = dir ? dir->read(Record::spec) : fail(ErrorCode::not_found, "no spec");
  Result<StepSpec> step = text ? decode_step_spec(*text) : fail(text.error());
  if (step)
    launch(*step, now);
  else
    launch_failed(entry.intent.attempt, entry.intent.fence, true, step.error().message, now);
}

Status NodeAgent::write_records(const Prepare& message, const StepSpec& step,
                                const IntentRecord& intent) {
  // A directory without an entry is an incomplete launch: it has no intent, so no supervisor.
  if (Status removed = spool_.remove(intent.attempt); !removed) return removed;
  Result<std::unique_ptr<AttemptDir>> dir = spool_.create(intent.attempt);
  if (!dir) return fail(dir.error());
  if (Status s = (*dir)->create(Record::spec, encode(step)); !s) return s;
  if (has_script(step.launch)) {
    if (Status s = (*dir)->create(Record::script, *message.script); !s) return s;
    const std::string_view environment =
        message.environment ? std::string_view(*message.environment) : std::string_view();
    if (Status s = (*dir)->create(Record::environment, environment); !s) return s;
  }
  return (*dir)->create(Record::intent, encode(intent));
}

void NodeAgent::launch(const StepSpec& step, Moment now) {
  Status tried = executor_->launch(step, now);
  if (tried) return;
  launch_failed(step.launch.attempt, step.launch.fence, !jobs_fault(tried.error().code),
                tried.error().message, now);
}

// Of an attempt that has ended and whose script was to run here.
void NodeAgent::add_steps(Entry& entry) const {
  const bool ran =
      entry.report.phase == AttemptPhase::done || entry.report.phase == AttemptPhase::lost;
  if (!ran || entry.intent.rank != 0) return;
  if (const std::unique_ptr<AttemptDir> dir = spool_.open(entry.intent.attempt))
    entry.report.steps = steps_at_end(*dir, entry.report);
}

// The controller starts an attempt only after the previous one has ended or was fenced. An earlier
// attempt that is still here was fenced; it is killed at once so that it cannot run beside this one.
bool NodeAgent::supersede(const LaunchSpec& newer, Moment now) {
  std::vector<Kill> kills;
  for (auto& [key, entry] : attempts_) {
    if (key.job != newer.attempt.job) continue;
    if (entry.intent.fence > newer.fence) return false;
    if (!has_ended(entry.report.phase)) kills.push_back({key, entry.intent.fence, true});
  }
  for (const Kill& kill : kills) {
    attempts_.at(kill.attempt).kill_requested = true;
    executor_->kill(kill, now);
  }
  return true;
}

void NodeAgent::handle(const Go& message, Moment now) {
  // Only an attempt that was ready here is told to start: one that is not here any more has ended,
  // and the controller has lost that.
  if (!attempts_.contains(message.attempt))
    return progress(bare_report(message.attempt, message.fence, AttemptPhase::lost, kEndedBefore));
  Entry* entry = current(message.attempt, message.fence);
  if (!entry) return;
  if (entry->report.phase != AttemptPhase::ready || entry->kill_requested)
    return progress(entry->report);
  entry->go_requested = message;
  executor_->go(message, entry->intent.leased ? lease_until_ : std::nullopt, now);
}

void NodeAgent::handle(const Kill& message, Moment now) {
  auto it = attempts_.find(message.attempt);
  if (it == attempts_.end()) {
    if (forgotten_.contains(message.attempt))
      return progress(
          bare_report(message.attempt, message.fence, AttemptPhase::lost, kEndedBefore));
    mark_cancelled(message.attempt, message.fence, "cancelled before it reached the node", now);
    return progress(attempts_.at(message.attempt).report);
  }
  Entry& entry = it->second;
  if (message.fence < entry.intent.fence) return;
  if (has_ended(entry.report.phase)) return progress(entry.report);
  entry.kill_requested = true;
  Kill kill = message;
  kill.fence = entry.intent.fence;
  executor_->kill(kill, now);
  if (kill.given_up) executor_->give_up(kill, now);
}

void NodeAgent::handle(const Signal& message, Moment now) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (entry && !has_ended(entry->report.phase)) executor_->signal(message, now);
}

void NodeAgent::handle(const SignalStep& message, Moment) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (!entry || entry->report.phase != AttemptPhase::running || !setup_.signal_step) return;
  if (message.lsn <= entry->last_step_signal) return;
  entry->last_step_signal = message.lsn;
  setup_.signal_step(message);
}

void NodeAgent::handle(const SetLimit& message, Moment now) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (entry && !has_ended(entry->report.phase)) executor_->set_limit(message, now);
}

void NodeAgent::handle(const SetSuspended& message, Moment now) {
  note_command(message.lsn);
  Entry* entry = current(message.attempt, message.fence);
  if (!entry || has_ended(entry->report.phase)) return;
  if (message.lsn < entry->last_suspend) return;
  entry->last_suspend = message.lsn;
  entry->held_resume.reset();
  if (!message.suspended && !cpus_are_left(message.attempt, entry->cpu_ids, now)) {
    entry->held_resume = message;
    return;
  }
  const bool was_stopping = is_stopping(*entry, now);
  constexpr Seconds kToTell{5};  // after the last signal
  if (message.suspended && message.lsn > entry->suspended_by)
    entry->stopping_until = now.boot + message.grace + kToTell;
  entry->suspended_by = message.suspended ? message.lsn : Lsn{};
  executor_->set_suspended(message, now);
  if (was_stopping && !message.suspended) start_held(now);
}

void NodeAgent::handle(const CheckpointKnown& message, Moment now) {
  Entry* entry = current(message.attempt, message.fence);
  if (entry && !has_ended(entry->report.phase)) executor_->checkpoint_known(message, now);
}

void NodeAgent::handle(const Forget& message, Moment now) {
  Entry* entry = current(message.attempt, message.fence);
  if (!entry || !has_ended(entry->report.phase)) return;
  // Recorded before the removal: otherwise a delayed Prepare would find neither and run it again. If
  // the disk is full, the attempt stays and is reported as ended until the controller repeats Forget.
  if (!spool_.remember_forgotten(message.attempt, message.fence)) return;
  forgotten_.insert_or_assign(message.attempt, message.fence);
  forgotten_order_.push_back(message.attempt);
  if (forgotten_order_.size() > kForgottenKept) {
    forgotten_.erase(forgotten_order_.front());
    forgotten_order_.pop_front();
  }
  executor_->release(message.attempt, now);
  (void)spool_.remove(message.attempt);  // on failure: next start, by the list
  attempts_.erase(message.attempt);
}

// --- events of the executor -----------------------------------------------------------------

void NodeAgent::attempt_changed(const AttemptReport& report, Moment now) {
  Entry* entry = current(report.attempt, report.fence);
  if (!entry || has_ended(entry->report.phase) || entry->report == report) return;
  if (report.phase < entry->report.phase) return;  // an older report that arrives late
  const bool was_stuck = !has_ended(entry->report.phase) && !entry->report.node_problem.empty();
  const bool is_stuck = !has_ended(report.phase) && !report.node_problem.empty();
  const bool was_stopping = is_stopping(*entry, now);
  entry->report = report;
  if (has_ended(report.phase)) add_steps(*entry);
  progress(entry->report);
  if (is_stuck != was_stuck && connected_ && welcomed_) heartbeat(now);  // it tells fault()
  const bool leaves_cpus = was_stopping && !is_stopping(*entry, now);
  look_at_gpus(now);
  if (leaves_cpus) start_held(now);
}

void NodeAgent::launch_failed(const AttemptKey& key, Fence fence, bool node_fault,
                              const std::string& cause, Moment now) {
  Entry* entry = current(key, fence);
  if (!entry || entry->report.phase != AttemptPhase::accepted) return;
  executor_->release(key, now);
  (void)spool_.remove(key);
  refuse(key, fence, node_fault, cause, now);
  look_at_gpus(now);
}

void NodeAgent::refuse(const AttemptKey& key, Fence fence, bool node_fault,
                       const std::string& cause, Moment now) {
  mark_cancelled(key, fence, cause, now);
  Entry& entry = attempts_.at(key);
  entry.refusal = LaunchRefused{key, fence, node_fault, cause};
  send(*entry.refusal);
}

// Records the cancellation, on disk if there is space: later messages find that it never ran.
void NodeAgent::mark_cancelled(const AttemptKey& key, Fence fence, const std::string& why,
                               Moment now) {
  if (Result<std::unique_ptr<AttemptDir>> dir = spool_.create(key))
    (void)(*dir)->create(Record::cancelled, encode(CancelledRecord{fence, now.wall, why}));
  Entry entry;
  entry.intent.attempt = key;
  entry.intent.fence = fence;
  entry.report = bare_report(key, fence, AttemptPhase::never_ran, why);
  attempts_.insert_or_assign(key, std::move(entry));
}

}  // namespace ares::node
