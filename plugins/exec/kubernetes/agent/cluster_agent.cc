#include "exec/kubernetes/agent/cluster_agent.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/connect.h"
#include "exec/kubernetes/agent/pods/pod_call.h"
#include "exec/kubernetes/agent/pods/pod_container.h"
#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/agent/pods/rank_results.h"
#include "os/clock.h"
#include "os/users.h"

namespace ares::kubernetes {
namespace {

// Creations of pods that the client has at the same time. Each has a manifest, and tens of thousands of jobs may be launched at once.
constexpr std::size_t kMostCreations = 128;

std::uint64_t seed() {
  return static_cast<std::uint64_t>(os::boot_now().time_since_epoch().count());
}

// As this machine knows the user. The pods of one that it does not know have no groups but the job's.
Result<node::UserIdentity> user_of(const JobSpec& job) {
  Result<os::User> user = os::find_user(job.uid);
  if (!user) return fail(user.error());
  Result<std::vector<GroupId>> groups = os::groups_of(*user, job.gid);
  if (!groups) return fail(groups.error());
  return node::UserIdentity{user->name, job.gid, std::move(*groups), user->home, user->shell};
}

Launch with_user(node::StepSpec spec) {
  Launch launch{std::move(spec), {}, {}};
  if (Result<node::UserIdentity> user = user_of(*launch.spec.launch.spec))
    launch.spec.user = std::move(*user);
  for (const GroupId group : launch.spec.user.groups)
    if (std::string name = os::group_name(group); !name.empty())
      launch.groups.push_back(std::move(name));
  return launch;
}

}  // namespace

// --- a node of the host ---------------------------------------------------------------------------

class ClusterAgent::Node final : public node::Executor {
 public:
  Node(ClusterAgent& agent, std::string name, node::ExecutorEvents& events,
       const exec::LaunchTexts& texts)
      : agent_(agent), name_(std::move(name)), events_(events), texts_(texts) {
    agent_.nodes_[name_] = this;
  }
  ~Node() override { agent_.nodes_.erase(name_); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  node::ExecutorEvents& events() { return events_; }

  Status launch(const node::StepSpec& spec, node::Moment now) override {
    Launch launch = with_user(spec);
    launch.script = texts_.script;
    launch.environment = texts_.environment;
    launch.is_output_stored = agent_.output_->is_taken();
    return agent_.launch(name_, std::move(launch), now);
  }
  void go(const Go& go, std::optional<BootTime>, node::Moment now) override {
    change(go.attempt, now, [](PodAttempt& attempt) { attempt.go(); });
  }
  void give_up(const Kill& kill, node::Moment now) override {
    change(kill.attempt, now, [](PodAttempt& attempt) { attempt.give_up(); });
  }
  void kill(const Kill& kill, node::Moment now) override {
    if (Entry* entry = agent_.find(name_, kill.attempt)) entry->is_end_wanted = true;
    change(kill.attempt, now,
           [&](PodAttempt& attempt) { attempt.kill(kill.immediately, kill.grace); });
  }
  void signal(const Signal& signal, node::Moment now) override {
    change(signal.attempt, now, [&](PodAttempt& attempt) {
      attempt.signal(signal.lsn.value(), signal.signal, signal.batch_only);
    });
  }
  void set_limit(const SetLimit& limit, node::Moment now) override {
    change(limit.attempt, now, [&](PodAttempt& attempt) { attempt.set_limit(limit.time_limit); });
  }
  // A pod whose processes are stopped would keep its requests. The controller refuses to suspend jobs on nodes with kContainerFeature.
  void set_suspended(const SetSuspended&, node::Moment) override {}
  void output_stored(const node::OutputStored& stored) override {
    const auto name = agent_.names_.find({name_, stored.attempt});
    if (name != agent_.names_.end())
      agent_.output_->stored(name->second, stored.size, stored.ended);
  }
  void renew_lease(const AttemptKey&, BootTime, node::Moment) override {}
  void release(const AttemptKey& key, node::Moment now) override {
    change(key, now, [](PodAttempt& attempt) { attempt.release(); });
    agent_.names_.erase({name_, key});
  }
  std::vector<AttemptReport> list(node::Moment) override {
    std::vector<AttemptReport> reports;
    agent_.each_on(name_, [&](const std::string&, Entry& entry) {
      if (entry.attempt.is_released()) return;
      entry.told = agent_.report_of(entry);
      reports.push_back(*entry.told);
    });
    return reports;
  }

 private:
  template <class Change>
  void change(const AttemptKey& key, node::Moment now, Change&& make) {
    const auto name = agent_.names_.find({name_, key});
    if (name == agent_.names_.end()) return;
    const std::string pod = name->second;
    Entry& entry = agent_.attempts_.at(pod);
    make(entry.anew ? *entry.anew : entry.attempt);
    // The host is told in dispatch(), not from within its call.
    agent_.touched_.insert(pod);
    agent_.proceed(pod, now);
  }

  ClusterAgent& agent_;
  std::string name_;
  node::ExecutorEvents& events_;
  const exec::LaunchTexts& texts_;
};

// --- start ----------------------------------------------------------------------------------------

ClusterAgent::ClusterAgent(Settings settings, std::unique_ptr<ApiClient> client,
                           exec::NodeEvents& nodes)
    : settings_(std::move(settings)),
      client_(std::move(client)),
      events_(nodes),
      output_(std::make_unique<OutputFollower>(*client_, output_hooks())) {}

ClusterAgent::~ClusterAgent() {
  if (lease_) lease_->release();
}

Result<std::unique_ptr<exec::Backend>> ClusterAgent::open(std::string options,
                                                          exec::NodeEvents& nodes) {
  Result<Settings> settings = decode_plugin_settings(options);
  if (!settings) return fail(settings.error());
  auto client = open_client(*settings);
  if (!client) return fail(client.error());
  auto agent = std::make_unique<ClusterAgent>(std::move(*settings), std::move(*client), nodes);
  if (Status started = agent->start(); !started) return fail(started.error());
  return agent;
}

Status ClusterAgent::start() {
  const Result<std::string> cluster_id =
      connect({.client = *client_, .stop_fd = events_.stop_fd()}, settings_);
  if (!cluster_id) return fail(cluster_id.error());
  if (Status active = become_active(); !active) return active;
  table_ = std::make_unique<NodeTable>(
      NodeTableSettings{settings_.node_prefix, settings_.features, *cluster_id,
                        settings_.gpu_domain_label},
      [this](const std::string& node, const std::string& uid) {
        bool holds = false;
        each_on(settings_.node_prefix + node, [&](const std::string&, const Entry& entry) {
          holds = holds || (entry.attempt.node_uid() == uid && entry.attempt.may_run());
        });
        return holds;
      });
  node_watch_ = std::make_unique<ObjectWatch>(
      *client_,
      WatchScope{.list = Call::list_nodes,
                 .watch = Call::watch_nodes,
                 .label_selector = settings_.node_selector},
      WatchSettings{}, seed(), [this](const Change& change) { node_changed(change); },
      os::boot_now);
  pod_watch_ = std::make_unique<ObjectWatch>(
      *client_, WatchScope{.list = Call::list_pods, .watch = Call::watch_pods}, WatchSettings{},
      seed() + 1, [this](const Change& change) { pod_changed(change); }, os::boot_now);
  if (Status done = run_until(
          {.client = *client_,
           .stop_fd = events_.stop_fd(),
           .watches = {node_watch_.get(), pod_watch_.get()},
           .lease = lease_.get()},
          [&] { return node_watch_->is_synced() && pod_watch_->is_synced(); }, "nodes and pods");
      !done)
    return done;
  adopt_found();
  is_started_ = true;
  for (const auto& [name, entry] : attempts_) touched_.insert(name);
  return {};
}

Status ClusterAgent::become_active() {
  Result<AgentIdentity> self = this_agent();
  if (!self) return fail(self.error());
  lease_ = std::make_unique<LeaseHolder>(
      *client_, LeaseParts{.place = lease_place(settings_.space, settings_.cluster),
                           .self = std::move(*self),
                           .say = [this](const std::string& text) { events_.say(text); },
                           .now = os::boot_now});
  return run_until(
      {.client = *client_,
       .stop_fd = events_.stop_fd(),
       .lease = lease_.get(),
       .most = std::nullopt},
      [this] { return lease_->is_held(); }, "the lease");
}

// Pods of an earlier agent. One that it had not bound is begun anew, if it is still wanted.
void ClusterAgent::adopt_found() {
  for (auto& [name, pod] : std::exchange(found_, {})) {
    Result<node::StepSpec> spec = node::decode_step_spec(pod.spec);
    if (!spec) {
      // Not by a release that this one knows. The job is told of by its labels alone.
      spec = node::StepSpec{};
      spec->launch.attempt = pod.attempt;
      spec->launch.fence = pod.fence;
      spec->launch.rank = pod.rank;
      spec->launch.spec = std::make_shared<const JobSpec>();
      spec->launch.node_name = settings_.node_prefix + pod.node;
    }
    // A user with rights in a namespace may have made a pod that looks like one of another's job.
    if (pod.space != settings_.space && (pod.space != space_of(*spec->launch.spec, settings_) ||
                                         !check_grants(with_user(*spec), settings_)))
      continue;
    const std::string node = spec->launch.node_name;
    Inventory used;
    used.cpus = std::max(spec->launch.share.cpus, 1u);
    used.cpu_thousandths = spec->launch.share.cpu_thousandths;
    used.memory = std::max(spec->launch.share.memory, Bytes::mib(1));
    PodAttempt attempt(pod, std::move(*spec));
    if (const NodeObject* now = table_->find(node); now && now->uid != attempt.node_uid())
      attempt.node_removed();  // another node has its name
    if (attempt.may_run())
      table_->keep_earlier(pod.node, pod.node_uid, std::max<std::uint64_t>(pod.node_incarnation, 1),
                           used);
    // Nothing has run of one without its go, and its node is gone: the controller starts it elsewhere.
    if (pod.node.empty() || (!attempt.may_run() && !attempt.has_ended() && !table_->find(node)))
      attempt.release();
    else
      names_.insert_or_assign({node, pod.attempt}, name);
    add(name, Entry{.attempt = std::move(attempt), .node = node, .space = pod.space});
  }
  look_at_missing_at_ = BootTime{};  // nodes of which only their pods are left
}

Result<std::unique_ptr<node::Executor>> ClusterAgent::add_node(exec::AddedNode node,
                                                               node::ExecutorEvents& events,
                                                               const exec::LaunchTexts& texts) {
  return std::make_unique<Node>(*this, std::move(node.name), events, texts);
}

// --- the loop -------------------------------------------------------------------------------------

std::optional<BootTime> ClusterAgent::next_deadline() const {
  if (!touched_.empty() || table_->has_news()) return BootTime{};
  if (!waiting_.empty() && can_begin()) return BootTime{};
  std::optional<BootTime> next = client_->next_deadline();
  for (const std::optional<BootTime>& at :
       {node_watch_->next_deadline(), pod_watch_->next_deadline(), lease_->next_deadline(),
        output_->next_deadline(), look_at_missing_at_,
        due_.empty() ? std::nullopt : std::optional(due_.begin()->first)})
    if (at && (!next || *at < *next)) next = at;
  return next;
}

void ClusterAgent::dispatch(node::Moment now) {
  lease_->dispatch();
  client_->dispatch();
  if (!lease_->failure().empty()) return events_.failed(lease_->failure());
  for (const auto& watch : {node_watch_.get(), pod_watch_.get()})
    if (watch->next_deadline() && *watch->next_deadline() <= now.boot) watch->dispatch();
  output_->dispatch();
  if (look_at_missing_at_ && *look_at_missing_at_ <= now.boot) look_at_missing(now.boot);
  while (!due_.empty() && due_.begin()->first <= now.boot) {
    const std::string name = due_.begin()->second;
    Entry& entry = attempts_.at(name);
    due_.erase(due_.begin());
    entry.scheduled.reset();
    entry.attempt.tick(now);
    touched_.insert(name);
  }
  let_begin();
  for (const std::string& name : std::exchange(touched_, {})) {
    const auto it = attempts_.find(name);
    if (it == attempts_.end()) continue;
    follow_output(name, it->second);
    tell(it->second, now);
    proceed(name, now);
  }
  const std::string& problem =
      node_watch_->problem().empty() ? pod_watch_->problem() : node_watch_->problem();
  table_->set_problem(problem.empty() ? "" : "Kubernetes cannot be followed: " + problem);
  table_->tell(events_);
}

node::ExecutorEvents* ClusterAgent::events_of(const std::string& node) {
  const auto it = nodes_.find(node);
  return it == nodes_.end() ? nullptr : &it->second->events();
}

// --- attempts -------------------------------------------------------------------------------------

ClusterAgent::Entry* ClusterAgent::find(const std::string& node, const AttemptKey& key) {
  const auto name = names_.find({node, key});
  return name == names_.end() ? nullptr : &attempts_.at(name->second);
}

void ClusterAgent::add(const std::string& name, Entry entry) {
  pods_on_[entry.node].insert(name);
  attempts_.emplace(name, std::move(entry));
}

Status ClusterAgent::launch(const std::string& node, Launch launch, node::Moment now) {
  const LaunchSpec& spec = launch.spec.launch;
  const std::string name = pod_name(settings_.cluster, spec.fence, spec.rank);
  const auto earlier = attempts_.find(name);
  if (earlier != attempts_.end() &&
      (!earlier->second.attempt.is_released() || earlier->second.anew))
    return {};
  const NodeObject* object = table_->find(node);
  if (!object) return fail(ErrorCode::unavailable, "Kubernetes has no node of that name now");
  if (Status possible = check_launch(launch, settings_, *object); !possible) return possible;
  names_.insert_or_assign({node, spec.attempt}, name);
  const std::string space = space_of(*spec.spec, settings_);
  PodAttempt attempt(std::move(launch), object->uid);
  if (earlier != attempts_.end())
    earlier->second.anew = std::make_unique<PodAttempt>(std::move(attempt));
  else
    add(name, Entry{.attempt = std::move(attempt), .node = node, .space = space});
  proceed(name, now);
  return {};
}

// The attempt is done with: its pod is gone.
void ClusterAgent::forget(const std::string& name, Entry& entry) {
  if (entry.scheduled) due_.erase({*entry.scheduled, name});
  output_->forget(name);
  if (!entry.anew) {
    const auto pods = pods_on_.find(entry.node);
    pods->second.erase(name);
    if (pods->second.empty()) pods_on_.erase(pods);
    attempts_.erase(name);
    return;
  }
  std::string space = space_of(*entry.anew->launch().spec.launch.spec, settings_);
  entry = Entry{.attempt = std::move(*entry.anew),
                .node = entry.node,
                .space = std::move(space),
                .is_end_wanted = entry.is_end_wanted,
                .gone_uid = entry.attempt.uid()};
  touched_.insert(name);
}

// Makes the next call. An attempt that is done with is forgotten.
void ClusterAgent::proceed(const std::string& name, node::Moment now) {
  const auto it = attempts_.find(name);
  if (it == attempts_.end()) return;
  Entry& entry = it->second;
  const NodeObject* node = table_->find(entry.node);
  const bool may_go = node && node->uid == entry.attempt.node_uid();
  if (entry.attempt.is_beginning() && !can_begin()) {
    if (!std::exchange(entry.is_waiting, true)) waiting_.push_back(name);
  } else if (std::optional<PodAction> action = entry.attempt.next(now.boot, may_go)) {
    perform(name, entry, std::move(*action));
  }
  if (entry.attempt.is_forgotten())
    forget(name, entry);
  else
    schedule(name, entry, now);
}

bool ClusterAgent::can_begin() const {
  return creations_ < kMostCreations && client_->can_write();
}

// Those that have waited longest, as many as may begin now.
void ClusterAgent::let_begin() {
  if (!can_begin()) return;
  for (std::size_t begun = creations_; begun < kMostCreations && !waiting_.empty(); ++begun) {
    const std::string name = std::move(waiting_.front());
    waiting_.pop_front();
    const auto it = attempts_.find(name);
    if (it == attempts_.end()) continue;
    it->second.is_waiting = false;
    touched_.insert(name);
  }
}

void ClusterAgent::schedule(const std::string& name, Entry& entry, node::Moment now) {
  std::optional<BootTime> next = entry.attempt.retry_at();
  if (const std::optional<Time> at = entry.attempt.next_deadline()) {
    const BootTime boot = now.boot + std::max(Duration::zero(), Duration(*at - now.wall));
    if (!next || boot < *next) next = boot;
  }
  if (next == entry.scheduled) return;
  if (entry.scheduled) due_.erase({*entry.scheduled, name});
  entry.scheduled = next;
  if (next) due_.emplace(*next, name);
}

void ClusterAgent::tell(Entry& entry, node::Moment now) {
  const AttemptReport report = report_of(entry);
  if (entry.attempt.has_ended()) {
    end_ranks(entry);
    if (const std::string& node = entry.node; node.starts_with(settings_.node_prefix))
      table_->look_again(node.substr(settings_.node_prefix.size()));
  }
  node::ExecutorEvents* events = events_of(entry.node);
  if (entry.attempt.is_released() || !events) return;
  if (entry.told && *entry.told == report) return;
  const bool was_accepted = !entry.told || entry.told->phase == AttemptPhase::accepted;
  entry.told = report;
  const std::optional<NeverRan> never_ran = entry.attempt.never_ran();
  if (report.phase == AttemptPhase::never_ran && was_accepted && !entry.attempt.was_killed())
    events->launch_failed(report.attempt, report.fence, never_ran->is_nodes_fault, never_ran->cause,
                          now);  // releases it
  else
    events->attempt_changed(report, now);
}

// The entries of the attempt by rank, if the script runs in each of them; otherwise none.
std::vector<ClusterAgent::Entry*> ClusterAgent::ranks_of(const Entry& entry) {
  const LaunchSpec& spec = entry.attempt.launch().spec.launch;
  std::vector<Entry*> ranks;
  if (!spec.spec->container || !spec.spec->container->is_per_rank) return ranks;
  for (std::uint32_t rank = 0; rank < spec.layout->names.size(); ++rank)
    if (const auto it = attempts_.find(pod_name(settings_.cluster, spec.fence, rank));
        it != attempts_.end())
      ranks.push_back(&it->second);
  return ranks;
}

// One whose script runs in each pod ends with the last of them. To the controller a node that ends before the first one has failed,
// so the others keep their end to themselves until they are told to end.
AttemptReport ClusterAgent::report_of(const Entry& entry) {
  AttemptReport report = entry.attempt.report();
  // When a job has ended, all that it printed can be read.
  if (report.phase == AttemptPhase::done && !is_over(entry)) return as_running(report);
  const std::vector<Entry*> ranks = ranks_of(entry);
  if (ranks.empty() || !entry.attempt.has_ended()) return report;
  // Before the go of any of them nothing has run.
  const bool has_any_go = std::any_of(ranks.begin(), ranks.end(),
                                      [](const Entry* rank) { return rank->attempt.has_go(); });
  if (report.phase == AttemptPhase::never_ran && !has_any_go) return report;
  if (entry.attempt.launch().spec.launch.rank > 0)
    return entry.is_end_wanted ? report : as_running(report);
  std::vector<RankEnd> ends;
  for (const Entry* rank : ranks) {
    if (!is_over(*rank)) return as_running(report);
    ends.push_back({rank->attempt.report(), rank->attempt.was_killed()});
  }
  return joint_report(ends);
}

// The ranks that still run are ended if this one has failed, and all learn of its end.
void ClusterAgent::end_ranks(Entry& entry) {
  if (std::exchange(entry.has_ended, true)) return;
  const bool failed = has_failed(entry.attempt.report());
  for (Entry* rank : ranks_of(entry)) {
    const LaunchSpec& spec = rank->attempt.launch().spec.launch;
    if (failed && !rank->attempt.has_ended()) rank->attempt.kill(false, std::nullopt);
    touched_.insert(pod_name(settings_.cluster, spec.fence, spec.rank));
  }
}

std::vector<std::string> ClusterAgent::hosts_of(const node::StepSpec& spec) const {
  std::vector<std::string> hosts;
  const std::size_t count = spec.launch.layout->names.size();
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const auto it = attempts_.find(pod_name(settings_.cluster, spec.launch.fence, rank));
    if (it == attempts_.end() || it->second.attempt.address().empty()) return {};
    hosts.push_back(it->second.attempt.address());
  }
  return hosts;
}

}  // namespace ares::kubernetes
