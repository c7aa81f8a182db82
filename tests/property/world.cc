#include "property/world.h"

#include <algorithm>

#include "core/job/apply/apply.h"
#include "core/job/decide/decide.h"

namespace ares::property {
namespace {

std::shared_ptr<const Policy> short_policy(bool limited, bool node_life, int nodes) {
  auto p = std::make_shared<Policy>();
  p->lease = Seconds{30};
  p->heartbeat = Seconds{3};
  p->kill_wait = Seconds{3};
  p->kill_allowance = Seconds{2};
  p->start_barrier = Seconds{60};
  p->prepare_timeout = Seconds{40};
  p->dead_node_timeout = Seconds{45};
  p->min_job_age = Seconds{120};
  p->request_retention = Seconds{300};
  p->launch_backoff_max = Seconds{20};
  p->preemption = {.min_age = Seconds{2}, .grace = Seconds{4}, .per_hour = 12, .per_day = 20};
  p->expedite = {.most = 2, .long_run = Seconds{20}, .keep = Seconds{30}};
  if (limited) p->accounting.enforce = Enforce::limits;
  p->launch_guard.failures = node_life ? 2 : 0;
  p->launch_guard.retry_after = Seconds{20};
  p->resume_timeout = Seconds{40};
  if (node_life) p->dynamic_nodes = {{{"n" + std::to_string(nodes + 1)}, {"main"}, 0}};
  return p;
}

Partition partition(std::string name, int nodes) {
  Partition p;
  p.name = std::move(name);
  for (int i = 1; i <= nodes; ++i) p.nodes.push_back("n" + std::to_string(i));
  p.is_default = p.name == "main";
  return p;
}

}  // namespace

World::World(std::uint64_t seed, int nodes, bool limited, bool node_life)
    : random_(seed),
      policy_(short_policy(limited, node_life, nodes)),
      configured_(nodes),
      node_life_(node_life),
      preempt_mode_(seed % 3 == 0   ? PreemptMode::cancel
                    : seed % 3 == 1 ? PreemptMode::suspend
                                    : PreemptMode::requeue),
      bounds_{.batch_events = 1 + seed % 7,
              .notification_events = 1 + seed % 3,
              .notification_records = 2 + seed % 5},
      sessions_(static_cast<std::size_t>(nodes + (node_life ? 1 : 0))) {
  for (std::size_t n = 0; n < sessions_.size(); ++n)
    nodes_.emplace_back(name_of(n), policy_->lease);
  nodes_.back().joins = node_life;
  restart_controller();
  handle({configuration()});
  commit();
}

ApplyConfig World::configuration() const {
  const int nodes = configured_;
  ApplyConfig config;
  config.hash = 1;
  config.partitions = {partition("main", nodes), partition("small", 1), partition("high", nodes)};
  config.partitions[0].preempt_mode = preempt_mode_;
  config.partitions[2].tier = 3;
  for (int i = 1; i <= nodes; ++i) config.nodes.emplace_back("n" + std::to_string(i), Inventory{});
  return config;
}

void World::restart_controller() {
  // What was not committed is lost; what was committed and not sent must be sent again without another event.
  for (std::size_t n = 0; n < sessions_.size(); ++n) disconnect(n);
  registering_.clear();
  asked_.clear();
  monitor_ = {};
  engine_ = std::make_unique<core::Engine>(committed_, policy_, bounds_);
  handle({Activate{Epoch{++epoch_}, "controller"}});
}

void World::handle(Command command) {
  const Time now = std::max(now_, engine_->state().now);
  const bool sample = chance(3);
  ClusterState before;
  if (sample) {
    before = engine_->state();
    (void)core::decide(engine_->state(), *policy_, command, now);
    if (!(before == engine_->state())) problems_.push_back("decide changed the state");
  }
  engine_->handle(command, now, ++ticket_);
}

void World::commit() {
  give_out(engine_->take_ready());
  if (chance(50)) engine_->continue_notifications(now_);
  if (!engine_->has_batch()) return;
  core::EngineBatch batch = engine_->take_batch();
  for (const auto& event : batch.events) journal_.push_back(event);
  check_replay(batch);
  committed_ = batch.after;
  if (on_batch) on_batch(batch);
  core::Outgoing out = engine_->committed();
  check_resent(out.effects);
  give_out(std::move(out));
}

// Not a scheduler: it proposes random starts, including impossible ones; the engine must accept only valid ones.
void World::plan() {
  TakePlan take;
  const ClusterState& state = engine_->state();
  state.pending.for_each([&](const JobKey& key, const Lsn& version) {
    if (take.plan.groups.size() > 6 || chance(30)) return;
    const Job& job = *state.jobs.find(key);
    if (calm_ && !job.waiting_for.empty()) return;  // else they block the other jobs
    PlanGroup group;
    group.jobs.emplace_back(key, chance(5) ? Lsn{1} : version);
    Start start;
    start.key = key;
    if (job.array)
      start.key.task =
          TaskIndex{chance(10) ? static_cast<std::uint32_t>(draw(6)) : job.array->waiting.front()};
    start.partition = job.spec->partitions.front();
    start.time_limit = job.time_limit.value_or(Seconds{600});
    if (!job.spec->gpu_alternatives.empty())
      start.alternative = static_cast<std::uint32_t>(draw(chance(5) ? 3 : 2));
    const int first = draw(static_cast<int>(nodes_.size()));
    // A job that returns first may do without spare nodes; others may not.
    const std::uint32_t spare = job.spec->spare_nodes;
    const std::uint32_t missing = spare > 0 && chance(job.expedited ? 50 : 3) ? spare : 0;
    for (std::uint32_t i = missing; i < job.spec->min_nodes; ++i) {
      NodeShare share;
      share.node = NodeId{
          1 + static_cast<std::uint32_t>((static_cast<std::size_t>(first) + i) % nodes_.size())};
      share.cpus = static_cast<std::uint32_t>(1 + draw(2));
      share.memory = Bytes::mib(512);
      if (!job.spec->gpu_alternatives.empty() && !chance(5) && start.alternative == 0)
        share.gpus = {GpuIndex{0}, GpuIndex{1}};
      else if (!job.spec->gpu_alternatives.empty() || chance(30))
        share.gpus = {GpuIndex{static_cast<std::uint16_t>(draw(2))}};
      const Node* node = state.nodes.find(share.node);
      share.incarnation = node ? node->incarnation : 0;
      start.nodes.push_back(share);
    }
    group.starts.push_back(start);
    const bool above = start.partition == "high" || job.spec->qos == "top";
    if (above && chance(40)) evict_some(group);
    take.plan.groups.push_back(group);
  });
  // Also jobs that cannot resume: their CPUs are in use, or an operator suspended them.
  state.jobs.for_each([&](const JobKey& key, const Job& job) {
    if (job.state != JobState::suspended || chance(50)) return;
    PlanGroup group;
    group.jobs.emplace_back(key, job.version);
    group.resume = AttemptKey{key, job.attempt};
    const bool first = chance(50);
    take.plan.groups.insert(first ? take.plan.groups.begin() : take.plan.groups.end(), group);
  });
  state.pending.for_each([&](const JobKey& key, const Lsn&) {
    if (chance(20)) take.plan.accruing.push_back({key, chance(50) ? now_ : now_ - Seconds{5}});
  });
  handle({take});
}

// Proposes to evict the jobs on the nodes of its start, sometimes others or none.
void World::evict_some(PlanGroup& group) {
  const Start start = group.starts.front();
  ProposedClaim wanted{start.key, {}};
  wanted.claim.partition = start.partition;
  wanted.claim.time_limit = start.time_limit;
  wanted.claim.nodes = start.nodes;
  const auto add = [&](NodeId id) {
    const Node* node = engine_->state().nodes.find(id);
    if (!node) return;
    for (const Charge& charge : node->charges)
      if (chance(85)) wanted.claim.victims.push_back(charge.attempt);
  };
  for (const NodeShare& share : start.nodes) add(share.node);
  if (chance(10)) add(NodeId{1});
  std::sort(wanted.claim.victims.begin(), wanted.claim.victims.end());
  if (chance(95)) {
    const auto same = std::unique(wanted.claim.victims.begin(), wanted.claim.victims.end());
    wanted.claim.victims.erase(same, wanted.claim.victims.end());
  }
  group.starts.clear();
  group.claims = {std::move(wanted)};
}

void World::step() {
  now_ += std::chrono::milliseconds{draw(600)};
  const std::size_t node = static_cast<std::size_t>(draw(static_cast<int>(nodes_.size())));
  const int what = draw(100);
  if (what < 8) {
    user_command();
  } else if (what < 14) {
    plan();
  } else if (what < 40) {
    for (int i = draw(6); i >= 0; --i) deliver_up(node);
  } else if (what < 66) {
    for (int i = draw(6); i >= 0; --i) deliver_down(node);
  } else if (what < 84) {
    node_tick();
  } else if (what < 92) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) connect(n);
    handle({Tick{}});
  } else if (what < 97) {
    for (const NodeSilent& silent : monitor_.due(engine_->state(), *policy_, now_))
      handle({silent});
  } else {
    accident(node);
  }
  if (chance(60)) commit();
  check();
}

void World::accident(std::size_t node) {
  switch (draw(6)) {
    case 0: return restart_controller();
    case 1: now_ += Seconds{20 + draw(30)}; return;
    case 2:
      disconnect(node);
      nodes_[node].reboot();
      return;
    case 3: cut_off_[node] = now_ + Seconds{20 + draw(60)}; return disconnect(node);
    default: return disconnect(node);
  }
}

std::map<std::size_t, int> World::events_by_kind() const {
  std::map<std::size_t, int> kinds;
  for (const auto& event : journal_) ++kinds[event->body.index()];
  return kinds;
}

ClusterState World::replayed() const {
  ClusterState state;
  for (const auto& event : journal_) core::apply(state, *event);
  return state;
}

}  // namespace ares::property
