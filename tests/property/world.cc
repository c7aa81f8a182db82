#include "property/world.h"

#include <algorithm>

#include "core/engine/invariants.h"
#include "core/job/apply.h"
#include "core/job/decide.h"
#include "core/job/effects.h"
#include "core/job/transitions.h"

namespace ares::property {
namespace {

constexpr UserId kUsers[] = {UserId{0}, UserId{1000}, UserId{1001}};

std::shared_ptr<const Policy> short_policy() {
  auto p = std::make_shared<Policy>();
  p->lease = Seconds{30};
  p->heartbeat = Seconds{3};
  p->kill_wait = Seconds{3};
  p->kill_allowance = Seconds{2};
  p->start_barrier = Seconds{60};
  p->prepare_timeout = Seconds{40};
  p->min_job_age = Seconds{120};
  p->request_retention = Seconds{300};
  p->launch_backoff_max = Seconds{20};
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

World::World(std::uint64_t seed, int nodes)
    : random_(seed), policy_(short_policy()), sessions_(static_cast<std::size_t>(nodes)) {
  for (int i = 1; i <= nodes; ++i) nodes_.emplace_back("n" + std::to_string(i), policy_->lease);
  restart_controller();
  handle({configuration()});
  commit();
}

ApplyConfig World::configuration() const {
  const int nodes = static_cast<int>(nodes_.size());
  ApplyConfig config;
  config.hash = 1;
  config.partitions = {partition("main", nodes), partition("small", 1)};
  for (int i = 1; i <= nodes; ++i) config.nodes.emplace_back("n" + std::to_string(i), Inventory{});
  return config;
}

void World::restart_controller() {
  // What was decided and not committed dies unseen; what was committed and not sent must come again by itself.
  for (std::size_t n = 0; n < sessions_.size(); ++n) disconnect(n);
  registering_.clear();
  asked_.clear();
  monitor_ = {};
  engine_ = std::make_unique<core::Engine>(committed_, policy_);
  handle({Activate{Epoch{++epoch_}, "controller"}});
}

void World::disconnect(std::size_t node) {
  sessions_[node] = {};
  nodes_[node].registered = false;
}

void World::connect(std::size_t node) {
  if (sessions_[node].open || (!calm_ && now_ < cut_off_[node])) return;
  sessions_[node].open = true;
  sessions_[node].up.push_back(nodes_[node].register_message());
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
  if (!engine_->has_batch()) return;
  core::EngineBatch batch = engine_->take_batch();
  ClusterState replay = batch.before;
  for (const auto& event : batch.events) {
    if (const auto about = core::about_job(event->body)) {
      const Job* job = replay.jobs.find(about->key);
      const auto from = job ? std::optional(job->state) : std::nullopt;
      const core::Transition& t = core::transition(from, about->event);
      const std::string what = std::string(to_string(about->event)) + " of job " +
                               std::to_string(about->key.job.value()) + " in " +
                               (from ? std::string(to_string(*from)) : "no state");
      if (t.verdict == core::Verdict::refused) problems_.push_back("illegal event " + what);
      core::apply(replay, *event);
      const Job* after = replay.jobs.find(about->key);
      const bool led = after ? core::may_lead_to(t, after->state) : true;
      if (t.verdict == core::Verdict::accepted && !led)
        problems_.push_back(what + " led to " + std::string(to_string(after->state)));
    } else {
      core::apply(replay, *event);
    }
    journal_.push_back(event);
  }
  if (!(replay == batch.after))
    problems_.push_back("the events of a batch do not lead to its state");
  committed_ = batch.after;
  if (on_batch) on_batch(batch);
  core::Outgoing out = engine_->committed();
  check_owed(out.effects);
  give_out(std::move(out));
}

// Whatever is sent while it is still owed must also come out of the state alone.
void World::check_owed(const Effects& effects) {
  for (const Effect& e : effects) {
    const auto owed = [&](const AttemptKey& attempt, Fence fence, auto&& same,
                          std::vector<AttemptReport> reports) {
      for (const Effect& again : core::reconcile(*policy_, engine_->state(), e.node, reports)) {
        if (same(again.body)) return;
      }
      problems_.push_back("an effect for job " + std::to_string(attempt.job.job.value()) +
                          " fence " + std::to_string(fence.value()) +
                          " does not come again from state");
    };
    const auto live = [&](const AttemptKey& attempt, Fence fence, JobState state) {
      const Job* job = engine_->state().jobs.find(attempt.job);
      if (!job || job->attempt != attempt.attempt || job->state != state || !job->allocation ||
          job->allocation->fence != fence)
        return false;
      const auto& shares = job->allocation->nodes;
      return std::any_of(shares.begin(), shares.end(), [&](const NodeShare& s) {
        return s.node == e.node && s.phase != SharePhase::released && s.phase != SharePhase::fenced;
      });
    };
    if (const auto* p = std::get_if<Prepare>(&e.body)) {
      const LaunchSpec& l = p->launch;
      if (live(l.attempt, l.fence, JobState::configuring)) {
        owed(l.attempt, l.fence,
             [&](const ToNodeBody& b) {
               const auto* x = std::get_if<Prepare>(&b);
               return x && x->launch.attempt == l.attempt && x->launch.fence == l.fence &&
                      x->launch.rank == l.rank;
             },
             {});
      }
    } else if (const auto* g = std::get_if<Go>(&e.body)) {
      if (live(g->attempt, g->fence, JobState::running)) {
        owed(g->attempt, g->fence,
             [&](const ToNodeBody& b) {
               const auto* x = std::get_if<Go>(&b);
               return x && x->attempt == g->attempt && x->fence == g->fence;
             },
             {});
      }
    } else if (const auto* k = std::get_if<Kill>(&e.body)) {
      if (live(k->attempt, k->fence, JobState::completing)) {
        owed(k->attempt, k->fence,
             [&](const ToNodeBody& b) {
               const auto* x = std::get_if<Kill>(&b);
               return x && x->attempt == k->attempt && x->fence == k->fence;
             },
             {});
      }
    } else if (const auto* f = std::get_if<Forget>(&e.body)) {
      AttemptReport r;
      r.attempt = f->attempt;
      r.fence = f->fence;
      r.phase = AttemptPhase::done;
      owed(f->attempt, f->fence,
           [&](const ToNodeBody& b) {
             const auto* x = std::get_if<Forget>(&b);
             return x && x->attempt == f->attempt && x->fence == f->fence;
           },
           {r});
    } else if (const auto* s = std::get_if<SetLimit>(&e.body)) {
      const Job* job = engine_->state().jobs.find(s->attempt.job);
      if (job && job->allocation && live(s->attempt, s->fence, JobState::running)) {
        owed(s->attempt, s->fence,
             [&](const ToNodeBody& b) {
               const auto* x = std::get_if<SetLimit>(&b);
               return x && x->attempt == s->attempt && x->lsn >= s->lsn &&
                      x->time_limit == job->allocation->time_limit;
             },
             {});
      }
    }
  }
}

void World::give_out(core::Outgoing out) {
  for (const core::Reply& reply : out.replies) {
    if (const auto node = registering_.find(reply.ticket); node != registering_.end()) {
      if (reply.failed) disconnect(node->second);
      registering_.erase(node);
    }
    if (const auto asked = asked_.find(reply.ticket); asked != asked_.end()) {
      if (!reply.failed && !reply.jobs.empty()) {
        const auto [first, inserted] = answered_.try_emplace(asked->second, reply.jobs.front());
        if (!inserted && !(first->second == reply.jobs.front()))
          problems_.push_back("request " + asked->second + " was answered with two jobs");
      }
      asked_.erase(asked);
    }
  }
  for (Effect& e : out.effects) {
    const std::size_t node = e.node.value() - 1;
    if (node < sessions_.size() && sessions_[node].open)
      sessions_[node].down.push_back(std::move(e.body));
  }
}

void World::deliver_up(std::size_t n) {
  Session& session = sessions_[n];
  if (!session.open || session.up.empty()) return;
  NodeCommand command;
  command.message = {"n" + std::to_string(n + 1), nodes_[n].incarnation, session.up.front()};
  command.address = "a";
  if (!chance(calm_ ? 0 : 10)) session.up.pop_front();  // else it arrives twice
  monitor_.heard(NodeId{static_cast<std::uint32_t>(n + 1)}, now_);
  registering_[ticket_ + 1] = n;
  handle({command});
}

void World::deliver_down(std::size_t n) {
  Session& session = sessions_[n];
  if (!session.open || session.down.empty()) return;
  const ToNodeBody body = session.down.front();
  if (!chance(calm_ ? 0 : 10)) session.down.pop_front();
  nodes_[n].receive(body, now_, session.up);
}

void World::node_tick() {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::deque<FromNodeBody> answers;
    nodes_[n].step(random_, answers);
    if (!nodes_[n].registered) continue;  // what it did is told when it registers
    for (FromNodeBody& a : answers) sessions_[n].up.push_back(std::move(a));
    if (chance(30)) sessions_[n].up.push_back(nodes_[n].heartbeat(now_));
  }
}

JobKey World::some_job() {
  const std::uint64_t ids = engine_->state().next_job_id.value();
  JobKey key{JobId{1 + random_() % ids}, {}};
  const Job* job = engine_->state().jobs.find(key);
  if (job && job->array && chance(60)) key.task = TaskIndex{static_cast<std::uint32_t>(draw(6))};
  return key;
}

void World::submit(UserId uid, bool again) {
  UserCommand command;
  if (again && !submitted_.empty()) {
    command = submitted_[static_cast<std::size_t>(draw(static_cast<int>(submitted_.size())))].first;
  } else {
    JobSpec s;
    s.name = "job";
    s.uid = uid;
    s.user = "u" + std::to_string(uid.value());
    s.min_nodes = s.max_nodes = s.tasks = chance(30) ? 2 : 1;
    s.requeue = !chance(25);
    s.hold = chance(10);
    s.kill_on_invalid_dependency = chance(30);
    if (chance(25)) {
      s.array.emplace();
      s.array->insert(0, static_cast<std::uint32_t>(1 + draw(5)));
      if (chance(50)) s.array_throttle = static_cast<std::uint32_t>(1 + draw(2));
    }
    if (chance(20)) s.begin = now_ + Seconds{draw(20)};
    if (chance(40)) {  // a short limit, so that shares of it are used
      s.mail_types = static_cast<std::uint32_t>(draw(1 << 10));
      s.time_limit = Seconds{2 + draw(20)};
    }
    while (chance(25)) s.dependencies.push_back({static_cast<DependencyKind>(draw(4)), some_job()});
    command.who = {uid, GroupId{100}, s.user, "login"};
    command.request_id = "q" + std::to_string(++requests_);
    command.body = Submit{std::make_shared<const JobSpec>(std::move(s)), {}};
    submitted_.emplace_back(command, now_);
    if (submitted_.size() > 20) submitted_.erase(submitted_.begin());
  }
  // A retry long after retention is a new request: this client gives up before.
  for (const auto& [first, at] : submitted_) {
    if (first.request_id == command.request_id && now_ - at > Seconds{120}) return;
  }
  asked_[ticket_ + 1] = command.request_id;
  handle({command});
}

void World::user_command() {
  const UserId uid = kUsers[draw(3)];
  if (chance(50)) return submit(uid, chance(20));
  UserCommand command;
  command.who = {uid, GroupId{100}, "u" + std::to_string(uid.value()), "login"};
  command.request_id = "q" + std::to_string(++requests_);
  JobSelector jobs;
  jobs.keys = {some_job()};
  if (chance(5)) {
    jobs = {};
    jobs.everything = true;
  }
  if (chance(8)) return administer();
  switch (draw(8)) {
    case 0:
    case 1: {
      Cancel c;
      c.jobs = jobs;
      c.signal = chance(50) ? 10 : 0;
      command.body = c;
      break;
    }
    case 2: command.body = HoldJobs{jobs}; break;
    case 3:
    case 4: command.body = ReleaseJobs{jobs}; break;
    case 5: command.body = RequeueJobs{jobs, chance(30)}; break;
    case 6:
      command.body =
          chance(50) ? change_spec(jobs) : UpdateJob{jobs, {}, true, Seconds{60 + draw(600)}};
      break;
    default: {
      UpdateNode u;
      u.names = {"n" + std::to_string(1 + draw(static_cast<int>(nodes_.size())))};
      u.admin = chance(85) ? AdminState::up : chance(60) ? AdminState::drain : AdminState::down;
      u.reason = "test";
      command.body = u;
    }
  }
  handle({command});
}

// Partitions change by command, and configurations come that put them back.
void World::administer() {
  UserCommand command;
  command.who = {UserId{0}, GroupId{0}, "root", "here"};
  command.request_id = "q" + std::to_string(++requests_);
  if (chance(70)) {
    UpdatePartition update;
    update.names = {"small"};
    update.fields = {chance(50) ? "up" : "open", "tier", "priority"};
    update.values.up = update.values.open = chance(50);
    update.values.tier = draw(3);
    update.values.priority = static_cast<std::uint32_t>(draw(100));
    command.body = update;
  } else {
    Reconfigure again{configuration(), nullptr};
    again.config.hash = 1 + static_cast<std::uint64_t>(draw(3));
    Policy policy = *policy_;
    policy.config_hash = again.config.hash;
    again.policy = std::make_shared<const Policy>(std::move(policy));
    command.body = again;
  }
  handle({command});
}

// Operators and owners ask for whatever comes to their minds: the engine refuses what cannot be.
UpdateJob World::change_spec(JobSelector jobs) {
  JobSpec values;
  values.comment = "changed " + std::to_string(draw(3));
  values.nice = draw(5);
  if (chance(50)) values.begin = now_ + Seconds{draw(20)};
  if (chance(70)) values.dependencies = {{static_cast<DependencyKind>(draw(4)), some_job()}};
  values.requeue = chance(50);
  UpdateJob update;
  update.jobs = std::move(jobs);
  for (const char* field : {"comment", "nice", "begin", "dependencies", "requeue"})
    if (chance(40)) update.fields.emplace_back(field);
  if (chance(20)) update.array_throttle = static_cast<std::uint32_t>(draw(3));
  update.values = std::make_shared<const JobSpec>(std::move(values));
  return update;
}

// Not a scheduler: it proposes at random, also what is not possible; the engine must take only what holds.
void World::plan() {
  TakePlan take;
  const ClusterState& state = engine_->state();
  state.pending.for_each([&](const JobKey& key, const Lsn& version) {
    if (take.plan.groups.size() > 6 || chance(30)) return;
    const Job& job = *state.jobs.find(key);
    if (calm_ && !job.waiting_for.empty()) return;  // else they keep the others from their turn
    PlanGroup group;
    group.jobs.emplace_back(key, chance(5) ? Lsn{1} : version);
    Start start;
    start.key = key;
    if (job.array)
      start.key.task =
          TaskIndex{chance(10) ? static_cast<std::uint32_t>(draw(6)) : job.array->waiting.front()};
    start.partition = "main";
    start.time_limit = job.time_limit.value_or(Seconds{600});
    const int first = draw(static_cast<int>(nodes_.size()));
    for (std::uint32_t i = 0; i < job.spec->min_nodes; ++i) {
      NodeShare share;
      share.node = NodeId{
          1 + static_cast<std::uint32_t>((static_cast<std::size_t>(first) + i) % nodes_.size())};
      share.cpus = static_cast<std::uint32_t>(1 + draw(2));
      share.memory = Bytes::mib(512);
      if (chance(30)) share.gpus = {GpuIndex{static_cast<std::uint16_t>(draw(2))}};
      const Node* node = state.nodes.find(share.node);
      share.incarnation = node ? node->incarnation : 0;
      start.nodes.push_back(share);
    }
    group.starts.push_back(start);
    take.plan.groups.push_back(group);
  });
  handle({take});
}

void World::check_starts() {
  std::map<JobKey, std::vector<AttemptKey>> awake;
  for (const PretendNode& node : nodes_) {
    for (const auto& [attempt, times] : node.starts) {
      if (times > 1) problems_.push_back("an attempt started user code twice on one node");
    }
    for (const auto& [attempt, held] : node.attempts) {
      if (held.phase == AttemptPhase::running && held.batch && !node.frozen(held, now_))
        awake[attempt.job].push_back(attempt);
    }
  }
  for (const auto& [job, attempts] : awake) {
    if (attempts.size() > 1)
      problems_.push_back("two attempts of job " + std::to_string(job.job.value()) +
                          " run at once");
  }
}

void World::check() {
  for (const std::string& problem : core::check_invariants(engine_->state()))
    problems_.push_back(problem);
  check_starts();
  for (const auto& [id, key] : answered_) {
    if (key.job >= committed_.next_job_id) problems_.push_back("an acknowledged job is lost");
  }
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

std::vector<std::string> World::come_to_rest() {
  calm_ = true;
  UserCommand release;
  release.who = {UserId{0}, GroupId{0}, "root", "here"};
  JobSelector all;
  all.everything = true;
  for (int i = 0; i < 400; ++i) {
    now_ += Seconds{2};
    if (i % 40 == 0) {
      release.request_id = "q" + std::to_string(++requests_);
      release.body = ReleaseJobs{all};
      handle({release});
      UpdateNode up;
      for (std::size_t n = 0; n < nodes_.size(); ++n)
        up.names.push_back("n" + std::to_string(n + 1));
      release.request_id = "q" + std::to_string(++requests_);
      release.body = up;
      handle({release});
    }
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      connect(n);
      while (!sessions_[n].up.empty()) {
        deliver_up(n);
        commit();
      }
      while (!sessions_[n].down.empty()) deliver_down(n);
    }
    node_tick();
    handle({Tick{}});
    for (const NodeSilent& silent : monitor_.due(engine_->state(), *policy_, now_))
      handle({silent});
    for (int k = 0; k < 4; ++k) plan();
    commit();
    check();
  }
  std::vector<std::string> left;
  engine_->state().jobs.for_each([&](const JobKey& key, const Job& job) {
    if (is_terminal(job.state) || job.dependency_failed) return;
    // Waits for a job whose own dependency failed, or for tasks whose dependency did.
    if (job.state == JobState::pending && !job.waiting_for.empty()) return;
    if (job.array && job.array->waiting.empty()) return;
    left.push_back(
        "job " + std::to_string(key.job.value()) + " is still " +
        std::string(to_string(job.state)) + ", hold " + std::to_string(static_cast<int>(job.hold)) +
        ", " + std::to_string(job.excluded.size()) + " excluded, " +
        std::to_string(job.launch_failures) + " failures, attempt " +
        std::to_string(job.attempt.value()) + ", nodes " + std::to_string(job.spec->min_nodes));
  });
  for (const PretendNode& node : nodes_) {
    for (const auto& [attempt, held] : node.attempts) {
      const Job* job = engine_->state().jobs.find(attempt.job);
      if (!job || is_terminal(job->state))
        left.push_back("a node still holds an attempt of job " +
                       std::to_string(attempt.job.job.value()));
    }
  }
  if (!left.empty()) {
    // What stands in the way, for whoever looks into it.
    engine_->state().nodes.for_each([&](NodeId, const Node& node) {
      left.push_back(node.name + ": admin " + std::to_string(static_cast<int>(node.admin)) +
                     ", contact " + std::to_string(static_cast<int>(node.contact)) + ", charges " +
                     std::to_string(node.charges.size()));
    });
  }
  engine_->state().nodes.for_each([&](NodeId, const Node& node) {
    for (const Charge& charge : node.charges) {
      const Job* job = engine_->state().jobs.find(charge.attempt.job);
      if (!job || is_terminal(job->state))
        left.push_back(node.name + " is still charged for job " +
                       std::to_string(charge.attempt.job.job.value()));
    }
  });
  return left;
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
