#include "asim/simulation.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "config/default_memory.h"
#include "core/cluster/lease_monitor.h"
#include "model/job/gpu_part.h"

namespace ares::sim {
namespace {

// Predicted starts are compared with the actual start this long before it.
constexpr std::chrono::hours kAhead{1};
constexpr std::uint32_t kFirstUid = 100'000;
constexpr std::uint64_t kWatchEvery = 256;  // moments

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// No query for finished jobs or old request ids arrives, so none is kept. No limit on jobs.
std::shared_ptr<const Policy> policy_for(const Policy& of) {
  Policy policy = of;
  policy.min_job_age = policy.request_retention = Seconds{0};
  policy.max_jobs = ~std::uint32_t{0};
  return std::make_shared<const Policy>(std::move(policy));
}

ApplyConfig to_command(const config::Config& config) {
  ApplyConfig apply;
  apply.hash = config.policy.config_hash;
  apply.partitions = config::partitions_with_memory(config);
  apply.lease = config.policy.lease;
  for (const config::ConfiguredNode& node : config.nodes)
    apply.nodes.emplace_back(node.name, node.inventory);
  return apply;
}

}  // namespace

Simulation::Simulation(const Workload& workload, const config::Config& config, SimOptions options)
    : workload_(workload),
      config_(config),
      options_(options),
      policy_(policy_for(config.policy)),
      random_(options.seed) {}

Simulation::~Simulation() = default;

Result<Outcome> Simulation::run(const ProgressCallback& on_progress) {
  const double begin = cpu_seconds();
  if (Status ready = set_up(); !ready) return fail(ready.error());
  for (std::uint64_t moment = 0; work_left(); ++moment) {
    const std::optional<Time> next = next_moment();
    if (!next) break;  // the remaining jobs can never start
    out_.history->until(*next, level());
    now_ = std::max(now_, *next);
    while (!events_.empty() && events_.top().at <= now_) {
      const TimedEvent event = events_.top();
      events_.pop();
      handle_event(event);
    }
    submit_due();
    handle(Command{Tick{}});
    run_until_idle();
    plan_until_idle();
    if (std::exchange(predict_now_, false)) predict();
    if (moment % kWatchEvery == 0) on_progress(finished_, now_);
  }
  out_.end = now_;
  out_.cost.everything = cpu_seconds() - begin;
  on_progress(finished_, now_);
  return std::move(out_);
}

Status Simulation::set_up() {
  now_ = workload_.origin;
  if (!workload_.jobs.empty()) {
    now_ += workload_.jobs.front().submit;
    out_.last_submit = workload_.origin + workload_.jobs.back().submit;
  }
  out_.begin = now_;
  out_.jobs.resize(workload_.jobs.size());
  out_.history.emplace(now_);
  for (const config::ConfiguredNode& node : config_.nodes) {
    out_.machine_cpus += node.inventory.cpus;
    out_.machine_gpus += node.inventory.gpus.size();
    ++out_.machine_nodes;
  }
  ClusterState empty;
  empty.cluster = policy_->cluster;
  engine_.emplace(std::move(empty), policy_);
  handle(Command{Activate{Epoch(1), "asim"}});
  handle(Command{to_command(config_)});
  take_batch();
  if (engine_->state().nodes.size() != config_.nodes.size())
    return fail(ErrorCode::internal, "the engine did not take in the nodes of the cluster");
  simulated_nodes_.emplace(config_, engine_->state());
  std::vector<NodeId> nodes;
  engine_->state().nodes.for_each([&](NodeId id, const Node&) { nodes.push_back(id); });
  for (const NodeId node : nodes) {
    simulated_nodes_->outbox.push_back(simulated_nodes_->registration(node));
    if (options_.node_mtbf)
      schedule(now_ + Seconds(1 + static_cast<std::int64_t>(random_.exponential(
                                      static_cast<double>(options_.node_mtbf->count())))),
               Kind::node_fails, {}, node);
  }
  run_until_idle();
  first_id_ = engine_->state().next_job_id.value();
  if (options_.predict_every > Seconds{0})
    schedule(now_ + options_.predict_every, Kind::predict, {}, {});
  return {};
}

void Simulation::schedule(Time at, Kind kind, AttemptKey attempt, NodeId node) {
  events_.push({at, kind, ++order_, attempt, node});
}

bool Simulation::work_left() const {
  return next_submit_ < workload_.jobs.size() || finished_ < submitted_.size();
}

// The time of the next event; nullopt if only events are left that cannot start a waiting job.
std::optional<Time> Simulation::next_moment() const {
  std::optional<Time> next;
  const auto at = [&](Time time) { next = std::min(next.value_or(time), time); };
  if (next_submit_ < workload_.jobs.size())
    at(workload_.origin + workload_.jobs[next_submit_].submit);
  const Time may_pass = last_pass_.value_or(now_) + options_.interval;
  if (wake_) at(std::max(*wake_, may_pass));
  if (changed_) at(may_pass);
  if (!next && running_ == 0 && simulated_nodes_->down() == 0) return std::nullopt;
  if (!events_.empty()) at(events_.top().at);
  return next;
}

void Simulation::handle_event(const TimedEvent& event) {
  const ClusterState& state = engine_->state();
  switch (event.kind) {
    case Kind::job_end: {
      ExitStatus exit;
      const Job* job = state.jobs.find(event.attempt.job);
      // The job may have lost its node meanwhile, and wait again.
      if (!job || job->attempt != event.attempt.attempt || !job->allocation) return;
      if (job->state == JobState::suspended || now_ < script_end(*job)) return;  // not the end yet
      exit.timed_out = run_of(*job) > job->allocation->time_limit.value_or(Seconds::max());
      simulated_nodes_->end(event.attempt, exit);
      return;
    }
    case Kind::node_fails: {
      ++out_.node_failures;
      simulated_nodes_->fail(event.node, now_);
      const Node& node = *state.nodes.find(event.node);
      schedule(core::silent_at(state, *policy_, node, now_), Kind::node_silent, {}, event.node);
      schedule(now_ + options_.node_repair, Kind::node_returns, {}, event.node);
      return;
    }
    case Kind::node_silent:
      if (const auto heard = simulated_nodes_->failed_at(event.node))
        handle(Command{NodeSilent{event.node, *heard}});
      return;
    case Kind::node_returns: {
      simulated_nodes_->outbox.push_back(simulated_nodes_->restart(event.node));
      const double pause = random_.exponential(static_cast<double>(options_.node_mtbf->count()));
      schedule(now_ + Seconds(1 + static_cast<std::int64_t>(pause)), Kind::node_fails, {},
               event.node);
      return;
    }
    case Kind::predict:
      predict_now_ = true;
      schedule(now_ + options_.predict_every, Kind::predict, {}, {});
      return;
  }
}

// --- submissions --------------------------------------------------------------------------------

void Simulation::submit_due() {
  while (next_submit_ < workload_.jobs.size() &&
         workload_.origin + workload_.jobs[next_submit_].submit <= now_)
    submit(next_submit_++);
}

std::optional<Seconds> Simulation::limit_of(const WorkJob& job) const {
  const Seconds run = std::max(job.run, Seconds{1});  // zero would mean no limit
  return options_.exact_estimates ? run : job.limit.value_or(run);
}

JobSpec Simulation::spec_of(const WorkJob& job) const {
  JobSpec spec = workload_.specs[job.spec_index];
  spec.uid = UserId(kFirstUid + job.user);
  spec.gid = GroupId(kFirstUid + job.user);
  spec.user = "u" + std::to_string(job.user);
  spec.tasks = std::max(job.tasks, spec.min_nodes);
  spec.max_nodes = std::max(spec.tasks, spec.min_nodes);
  spec.time_limit = limit_of(job);
  if (job.memory_per_cpu.value() > 0 && options_.use_memory)
    spec.memory_per_cpu = job.memory_per_cpu;
  if (spec.gang) spec.gang->name = std::to_string(job.gang);
  spec.work_dir = "/";
  return spec;
}

void Simulation::submit(std::size_t index) {
  UserCommand command;
  auto spec = std::make_shared<const JobSpec>(spec_of(workload_.jobs[index]));
  command.who = {spec->uid, spec->gid, spec->user, "asim"};
  command.request_id = std::to_string(index);
  command.body = Submit{std::move(spec), {}};
  const JobId id = engine_->state().next_job_id;
  if (engine_->full()) take_batch();
  handle(Command{std::move(command)}, index + 1);
  if (engine_->state().next_job_id == id) return;  // refused: take_batch() counts the reply
  submitted_.push_back(index);
  out_.jobs[index].accepted = true;
  if (!workload_.specs[workload_.jobs[index].spec_index].gpus_per_node.empty() ||
      !workload_.specs[workload_.jobs[index].spec_index].gpus_total.empty())
    ++waiting_for_gpus_;
}

// --- the engine ---------------------------------------------------------------------------------

void Simulation::handle(Command command, core::Ticket ticket) {
  engine_->handle(command, now_, ticket);
}

void Simulation::run_until_idle() {
  for (;;) {
    while (!simulated_nodes_->outbox.empty() && !engine_->full()) {
      SimulatedNodes::NodeMessage message = std::move(simulated_nodes_->outbox.front());
      simulated_nodes_->outbox.pop_front();
      handle(Command{simulated_nodes_->command(std::move(message))});
    }
    take_batch();
    begin_scripts();
    if (simulated_nodes_->outbox.empty()) return;
  }
}

void Simulation::take_batch() {
  core::Outgoing outgoing;
  if (engine_->has_batch()) {
    const core::EngineBatch batch = engine_->take_batch();
    changed_ = true;
    ++out_.cost.batches;
    out_.cost.events += batch.events.size();
    for (const auto& event : batch.events) observe(*event);
    outgoing = engine_->committed();
  } else {
    outgoing = engine_->take_ready();
  }
  for (const core::Reply& reply : outgoing.replies)
    if (reply.failed) {
      const std::string& text = reply.error.message;
      auto& refusal = out_.refused[text.substr(0, text.find(':'))];
      if (refusal.jobs++ == 0) refusal.first = text;
    }
  if (simulated_nodes_)
    for (const Effect& effect : outgoing.effects) simulated_nodes_->receive(effect);
}

Seconds Simulation::run_of(const Job& job) const {
  const WorkJob& work = workload_.jobs[index_of(job.key.job)];
  if (!options_.stretch) return work.run;
  const double factor = options_.stretch(work, engine_->state(), *job.allocation);
  return Seconds(std::llround(factor * static_cast<double>(work.run.count())));
}

// Suspended time does not count as run time.
Time Simulation::script_end(const Job& job) const {
  return *job.started + job.allocation->suspended +
         std::min(run_of(job), job.allocation->time_limit.value_or(Seconds::max()));
}

void Simulation::begin_scripts() {
  for (const AttemptKey& attempt : simulated_nodes_->started) {
    const Job& job = *engine_->state().jobs.find(attempt.job);
    schedule(script_end(job), Kind::job_end, attempt, {});
  }
  simulated_nodes_->started.clear();
}

void Simulation::observe(const Event& event) {
  const auto release = [&](JobOutcome& job) {
    if (!std::exchange(job.holds_nodes, false)) return;
    if (!std::exchange(job.cpus_released, false)) busy_cpus_ -= job.cpus;
    busy_gpus_ -= job.gpus;
    if (job.since) job.ran += event.at - *job.since;
    job.since.reset();
    --running_;
  };
  if (const auto* e = std::get_if<Allocated>(&event.body)) {
    JobOutcome& job = out_.jobs[index_of(e->key.job)];
    job.nodes = static_cast<std::uint32_t>(e->nodes.size());
    job.cpus = job.gpus = 0;
    for (const NodeShare& share : e->nodes) {
      job.cpus += share.cpus;
      job.gpus += static_cast<std::uint32_t>(share.gpus.size()) * held_of_each(share.gpu_part);
    }
    busy_cpus_ += job.cpus;
    busy_gpus_ += job.gpus;
    if (job.gpus > 0) --waiting_for_gpus_;
    job.holds_nodes = true;
    ++running_;
  } else if (const auto* started = std::get_if<Started>(&event.body)) {
    JobOutcome& job = out_.jobs[index_of(started->attempt.job.job)];
    job.since = event.at;
    if (job.start) return;
    job.start = event.at;
    const auto predictions = predictions_.find(started->attempt.job.job.value());
    if (predictions == predictions_.end()) return;
    for (const auto& [when, expected] : predictions->second)
      if (when <= event.at - kAhead) job.predicted = expected;
    predictions_.erase(predictions);
  } else if (const auto* suspended = std::get_if<Suspended>(&event.body)) {
    JobOutcome& job = out_.jobs[index_of(suspended->attempt.job.job)];
    if (!std::exchange(job.cpus_released, true)) busy_cpus_ -= job.cpus;
    if (job.since) job.ran += event.at - *job.since;
    job.since.reset();
  } else if (const auto* resumed = std::get_if<Resumed>(&event.body)) {
    JobOutcome& job = out_.jobs[index_of(resumed->attempt.job.job)];
    job.cpus_released = false;
    busy_cpus_ += job.cpus;
    job.since = event.at;
    const Job* record = engine_->state().jobs.find(resumed->attempt.job);
    if (record && record->attempt == resumed->attempt.attempt && record->allocation)
      schedule(script_end(*record), Kind::job_end, resumed->attempt, {});
  } else if (const auto* ended = std::get_if<Ended>(&event.body)) {
    JobOutcome& job = out_.jobs[index_of(ended->key.job)];
    release(job);
    job.end = event.at;
    job.state = ended->state;
    ++finished_;
  } else if (const auto* requeued = std::get_if<Requeued>(&event.body)) {
    JobOutcome& job = out_.jobs[index_of(requeued->key.job)];
    release(job);
    if (job.gpus > 0) ++waiting_for_gpus_;
    ++job.restarts;
  }
}

// --- planning -----------------------------------------------------------------------------------

void Simulation::plan_until_idle() {
  if (last_pass_ && now_ < *last_pass_ + options_.interval) return;
  if (!changed_ && !(wake_ && *wake_ <= now_)) return;
  last_pass_ = now_;
  while (run_pass()) run_until_idle();
  changed_ = false;
}

bool Simulation::run_pass() {
  core::Budget budget;
  budget.details = false;
  budget.estimates = 0;
  if (options_.budget > 0) budget.units = options_.budget;
  changed_ = false;
  // Wall time: reading the thread's CPU time is a system call, and passes are many and short.
  const auto begin = std::chrono::steady_clock::now();
  Plan plan = planner_.plan(engine_->state(), *policy_, budget, now_);
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ++out_.cost.passes;
  out_.cost.planning += took;
  out_.cost.longest_pass = std::max(out_.cost.longest_pass, took);
  wake_ = plan.wake;
  if (plan.groups.empty() && plan.accruing.empty()) return false;
  if (!plan.groups.empty()) ++out_.cost.started_something;
  plan.pending = {};
  handle(Command{TakePlan{std::move(plan)}});
  return true;
}

// Predicts the start of each waiting job. Keeps only the newest prediction older than an hour.
void Simulation::predict() {
  core::Budget budget;
  budget.details = false;
  budget.estimates = ~std::uint32_t{0};
  if (options_.budget > 0) budget.units = options_.budget;
  const Plan plan = planner_.plan(engine_->state(), *policy_, budget, now_);
  plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
    if (!info.expected_start) return;
    auto& predictions = predictions_[key.job.value()];
    predictions.emplace_back(now_, *info.expected_start);
    while (predictions.size() > 1 && predictions[1].first <= now_ - kAhead) predictions.pop_front();
  });
}

History::Level Simulation::level() const {
  const double gpus_busy = static_cast<double>(busy_gpus_) / kWholeGpu;
  const double gpus_free = static_cast<double>(out_.machine_gpus) - gpus_busy;
  return {static_cast<double>(busy_cpus_), gpus_busy, static_cast<double>(running_),
          static_cast<double>(engine_->state().pending.size()),
          waiting_for_gpus_ > 0 ? gpus_free : 0.0};
}

}  // namespace ares::sim
