// A small cluster around the engine: it takes commands, commits every batch at once, and collects replies and effects.
// For tests only; single thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/cluster/lease_monitor.h"
#include "core/engine/engine.h"
#include "core/engine/invariants.h"
#include "core/job/follow/dependency_notifications.h"
#include "core/job/transitions.h"

namespace ares::core {

inline constexpr UserId kRoot{0}, kAlice{1000}, kBob{1001}, kOperator{500};

class Cluster {
 public:
  explicit Cluster(int nodes = 4, Policy rules = default_policy())
      : policy(std::make_shared<const Policy>(std::move(rules))), engine(ClusterState{}, policy) {
    run({Activate{Epoch{1}, "host"}});
    ApplyConfig config;
    config.hash = 7;
    Partition main;
    main.name = "main";
    main.is_default = true;
    main.priority = 10;
    main.max_time = Seconds{86400};
    main.default_time = Seconds{3600};
    for (int i = 1; i <= nodes; ++i) {
      const std::string name = "n" + std::to_string(i);
      main.nodes.push_back(name);
      config.nodes.emplace_back(name, machine());
    }
    config.partitions.push_back(main);
    run({config});
    for (int i = 1; i <= nodes; ++i) register_node(i);
  }

  static Policy default_policy() {
    Policy p;
    p.operators = {kOperator};
    return p;
  }
  static Inventory machine() {
    Inventory inventory;
    inventory.cpus = 4;
    inventory.memory = Bytes::mib(4000);
    for (std::uint16_t i = 0; i < 2; ++i) inventory.gpus.push_back({GpuIndex{i}, "a100", {}});
    return inventory;
  }

  // --- commands ---
  Reply run(Command command) {
    engine.handle(command, now, ++ticket_);
    return settle(ticket_);
  }
  Reply user(UserId uid, UserBody body, std::string id = {}, std::uint8_t content = 0) {
    UserCommand command;
    command.who = {uid, GroupId{uid.value()},
                   uid == kAlice  ? "alice"
                   : uid == kBob  ? "bob"
                   : uid == kRoot ? "root"
                                  : "admin",
                   "login"};
    command.request_id = id.empty() ? "r" + std::to_string(++requests_) : id;
    command.digest[0] = content;
    command.body = std::move(body);
    return run({command});
  }
  static JobSpec spec(UserId uid = kAlice) {
    JobSpec s;
    s.name = "test";
    s.uid = uid;
    s.user = uid == kAlice ? "alice" : "bob";
    return s;
  }
  Reply try_submit(JobSpec s) {
    const UserId uid = s.uid;
    return user(uid, Submit{std::make_shared<const JobSpec>(std::move(s)), {}});
  }
  JobKey submit(JobSpec s = spec()) {
    const Reply reply = try_submit(std::move(s));
    EXPECT_FALSE(reply.failed) << reply.error.message;
    return reply.jobs.empty() ? JobKey{} : reply.jobs.front();
  }
  static JobSelector named(JobKey key) {
    JobSelector s;
    s.keys = {key};
    return s;
  }
  Reply cancel(JobKey key, UserId by = kAlice) {
    Cancel c;
    c.jobs = named(key);
    return user(by, c);
  }

  Reply from_node(int node, FromNodeBody body) {
    NodeCommand command;
    command.message = {"n" + std::to_string(node), incarnation[node], std::move(body)};
    command.address = "10.0.0." + std::to_string(node);
    monitor.heard(id_of(node), now);
    return run({command});
  }
  Reply register_node(int node, std::vector<AttemptReport> attempts = {},
                      Inventory inventory = machine()) {
    if (incarnation[node] == 0) incarnation[node] = 1;
    Register r;
    r.name = "n" + std::to_string(node);
    r.incarnation = incarnation[node];
    r.incarnation_tag = r.name + "/" + std::to_string(r.incarnation);
    r.inventory = std::move(inventory);
    r.can_freeze = !cannot_freeze.contains(node);
    r.version = "test";
    r.enforced = enforced;
    r.attempts = std::move(attempts);
    return from_node(node, r);
  }

  // A share of this node: one CPU by default.
  static NodeShare share(const ClusterState& state, NodeId node, std::uint32_t cpus = 1) {
    NodeShare s;
    s.node = node;
    s.cpus = cpus;
    s.memory = Bytes::mib(100);
    s.tasks = 1;
    if (const Node* n = state.nodes.find(node)) s.incarnation = n->incarnation;
    return s;
  }
  PlanGroup group(JobKey key, std::vector<int> nodes, std::uint32_t cpus = 1) {
    PlanGroup g;
    const Job* job = state().jobs.find(key);
    if (job) g.jobs.emplace_back(key, job->version);
    Start start;
    start.key = key;
    start.partition = "main";
    start.time_limit = Seconds{3600};
    if (!job) job = state().jobs.find(JobKey{key.job, {}});
    if (job) start.licenses = job->spec->licenses;
    for (int n : nodes) start.nodes.push_back(share(state(), id_of(n), cpus));
    g.starts.push_back(start);
    return g;
  }
  Reply plan(std::vector<PlanGroup> groups) {
    TakePlan take;
    take.plan.groups = std::move(groups);
    return run({take});
  }
  void allocate(JobKey key, std::vector<int> nodes) {
    plan({group(key, std::move(nodes))});
    ASSERT_EQ(job(key).state, JobState::configuring);
  }
  AttemptReport report(JobKey key, AttemptPhase phase, std::int32_t code = 0) {
    AttemptReport r;
    r.attempt = {key, job(key).attempt};
    if (job(key).allocation) r.fence = job(key).allocation->fence;
    r.phase = phase;
    r.exit.code = code;
    return r;
  }
  Reply progress(int node, JobKey key, AttemptPhase phase, std::int32_t code = 0) {
    return from_node(node, Progress{report(key, phase, code)});
  }
  void start(JobKey key, std::vector<int> nodes) {
    allocate(key, nodes);
    for (int n : nodes) progress(n, key, AttemptPhase::ready);
    ASSERT_EQ(job(key).state, JobState::running);
    for (int n : nodes) progress(n, key, AttemptPhase::running);
  }
  void tick(Duration later) {
    now += later;
    run({Tick{}});
  }

  // --- queries ---
  const ClusterState& state() const { return engine.state(); }
  const Job& job(JobKey key) const {
    const Job* found = state().jobs.find(key);
    static const Job none;
    EXPECT_TRUE(found) << "no job " << key.job.value();
    return found ? *found : none;
  }
  NodeId id_of(int node) const {
    const NodeId* id = state().node_ids.find("n" + std::to_string(node));
    return id ? *id : NodeId{};
  }
  const Node& node(int n) const { return *state().nodes.find(id_of(n)); }

  // Number of messages of this type sent to the node since the last call of forget_sent().
  template <class Message>
  std::size_t sent(int n) const {
    std::size_t count = 0;
    for (const Effect& e : out)
      count += e.node == id_of(n) && std::holds_alternative<Message>(e.body) ? 1 : 0;
    return count;
  }
  template <class Message>
  const Message* last_sent(int n) const {
    const Message* last = nullptr;
    for (const Effect& e : out) {
      if (e.node != id_of(n)) continue;
      if (const auto* m = std::get_if<Message>(&e.body)) last = m;
    }
    return last;
  }
  void forget_sent() { out.clear(); }

  template <class E>
  std::size_t happened() const {
    std::size_t count = 0;
    for (const auto& e : events) count += std::holds_alternative<E>(e->body) ? 1 : 0;
    return count;
  }
  const Attempt* row(JobKey key, std::uint32_t attempt) const {
    const auto found = rows.find(AttemptKey{key, AttemptNo{attempt}});
    return found == rows.end() ? nullptr : &found->second;
  }

  std::shared_ptr<const Policy> policy;
  Engine engine;
  LeaseMonitor monitor;
  Time now{std::chrono::hours{500'000}};
  std::map<int, std::uint64_t> incarnation;
  std::set<int> cannot_freeze;  // nodes that register without can_freeze
  std::string enforced;         // that nodes register with
  Effects out;
  std::vector<std::shared_ptr<const Event>> events;
  std::map<AttemptKey, Attempt> rows;
  std::vector<Notice> told;
  std::size_t largest_batch = 0;  // in events

 private:
  Reply settle(Ticket ticket) {
    Reply mine;
    const auto keep = [&](Outgoing o) {
      for (Reply& r : o.replies) {
        if (r.ticket == ticket) mine = std::move(r);
      }
      for (Effect& e : o.effects) out.push_back(std::move(e));
      for (Notice& n : o.notices) told.push_back(std::move(n));
    };
    keep(engine.take_ready());
    while (engine.has_batch() || engine.has_notifications()) {
      engine.continue_notifications(now);
      EngineBatch batch = engine.take_batch();
      largest_batch = std::max(largest_batch, batch.events.size());
      for (auto& e : batch.events) events.push_back(e);
      for (auto& r : batch.attempts) rows.insert_or_assign(r.key, r);
      keep(engine.committed());
    }
    EXPECT_EQ(mine.ticket, ticket) << "no reply";
    for (const std::string& problem : check_invariants(state())) ADD_FAILURE() << problem;
    for (const JobKey& key : missed_notifications(state()))
      ADD_FAILURE() << "job " << key.job.value() << " waits for what is over";
    return mine;
  }

  Ticket ticket_ = 0;
  int requests_ = 0;
};

// An array of alice's with these tasks; `throttle` of them may run at a time, 0 = all.
inline JobSpec array_between(std::uint32_t first, std::uint32_t last, std::uint32_t throttle = 0) {
  JobSpec s = Cluster::spec();
  s.array.emplace();
  s.array->insert(first, last);
  s.array_throttle = throttle;
  return s;
}
inline JobSpec array_of(std::uint32_t tasks, std::uint32_t throttle = 0) {
  return array_between(0, tasks - 1, throttle);
}
inline JobKey task(JobKey array, std::uint32_t index) {
  return {array.job, TaskIndex{index}};
}

}  // namespace ares::core
