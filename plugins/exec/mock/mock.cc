#include "exec/mock/mock.h"

#include <map>
#include <set>

#include "exec/adapter/backend.h"
#include "exec/mock/simulated_tree.h"
#include "node/memory_spool.h"
#include "node/step.h"
#include "node/text_fields.h"

namespace ares::exec {
namespace {

struct Options {
  Duration start_delay{};
  Duration run_time{};
  std::uint32_t fail_permille = 0;
  std::uint32_t launch_fail_permille = 0;
};

// Deterministic: the same choice for the same key every time.
template <class T>
bool is_chosen(const T& what, std::uint64_t salt, std::uint32_t permille) {
  return (std::hash<T>{}(what) ^ salt) * 0x9e3779b97f4a7c15ULL % 1000 < permille;
}

// Runs the state machine of aresstepd on a directory in memory and simulated processes.
class Mock final : public Backend {
 public:
  Mock(Options options, node::ExecutorEvents& events, const LaunchTexts& texts, std::string boot_id)
      : options_(options), events_(events), texts_(texts), boot_id_(std::move(boot_id)) {}

  Status launch(const node::StepSpec& spec, node::Moment now) override;
  void go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) override {
    tell(go.attempt, node::StepGo{go.fence, lease_until}, now);
  }
  void kill(const Kill& kill, node::Moment now) override;
  void signal(const Signal& s, node::Moment now) override {
    tell(s.attempt, node::StepSignal{s.fence, s.lsn, s.signal, s.batch_only}, now);
  }
  void set_limit(const SetLimit& limit, node::Moment now) override {
    tell(limit.attempt, node::StepSetLimit{limit.fence, limit.lsn, limit.time_limit}, now);
  }
  void set_suspended(const SetSuspended& m, node::Moment now) override {
    tell(m.attempt, node::StepSetSuspended{m.fence, m.lsn, m.suspended, m.grace}, now);
  }
  void renew_lease(const AttemptKey& key, BootTime until, node::Moment now) override {
    tell(key, node::StepRenewLease{until}, now);
  }
  void release(const AttemptKey& key, node::Moment) override {
    schedule(key, std::nullopt);
    steps_.erase(key);
    (void)spool_.remove(key);
  }
  std::vector<AttemptReport> list(node::Moment) override;

  int event_fd() const override { return -1; }
  std::optional<BootTime> next_deadline() const override {
    return due_.empty() ? std::nullopt : std::optional<BootTime>(due_.begin()->first);
  }
  void dispatch(node::Moment now) override;

 private:
  struct Step {
    Step(SimulatedTree simulated) : tree(std::move(simulated)) {}
    std::unique_ptr<node::AttemptDir> dir;
    SimulatedTree tree;
    std::unique_ptr<node::StepMachine> machine;
    Fence fence;
    std::optional<BootTime> start_at;
    std::optional<BootTime> scheduled;
    AttemptPhase told = AttemptPhase::accepted;
    Lsn told_stopped{};
  };

  void tell(const AttemptKey& key, const node::StepCommand& command, node::Moment now);
  void turn(const AttemptKey& key, node::Moment now);
  void report(const AttemptKey& key, Step& step, node::Moment now);
  void schedule(const AttemptKey& key, std::optional<BootTime> at);

  Options options_;
  node::ExecutorEvents& events_;
  const LaunchTexts& texts_;
  std::string boot_id_;
  node::MemorySpool spool_;
  std::map<AttemptKey, Step> steps_;
  std::set<std::pair<BootTime, AttemptKey>> due_;
};

Status Mock::launch(const node::StepSpec& spec, node::Moment now) {
  const AttemptKey& key = spec.launch.attempt;
  if (steps_.contains(key)) return {};
  const Duration run_time = options_.run_time.count() > 0
                                ? options_.run_time
                                : first_sleep(texts_.script).value_or(Duration::zero());
  if (is_chosen(key, 1, options_.launch_fail_permille))
    return fail(ErrorCode::internal, "simulated failure to launch");
  const bool fails = is_chosen(key, 0, options_.fail_permille);
  Step& step = steps_.emplace(key, SimulatedTree(run_time, fails ? 1 : 0)).first->second;
  Result<std::unique_ptr<node::AttemptDir>> dir = spool_.create(key);
  step.dir = std::move(*dir);
  step.fence = spec.launch.fence;
  node::IntentRecord intent;
  intent.attempt = key;
  intent.fence = spec.launch.fence;
  intent.boot_id = boot_id_;
  intent.at = now.wall;
  (void)step.dir->create(node::Record::intent, encode(intent));

  step.machine = std::make_unique<node::StepMachine>(node::settings_of(spec.launch), *step.dir,
                                                     step.tree, [](node::StepNotice) {});
  step.start_at = now.boot + options_.start_delay;
  schedule(key, step.start_at);
  return {};
}

void Mock::kill(const Kill& kill, node::Moment now) {
  auto it = steps_.find(kill.attempt);
  if (it == steps_.end()) return;
  if (it->second.start_at) {  // still in its start delay
    it->second.start_at.reset();
    (void)it->second.machine->start(now);
  }
  tell(kill.attempt, node::StepKill{kill.fence, kill.immediately, kill.grace}, now);
}

void Mock::tell(const AttemptKey& key, const node::StepCommand& command, node::Moment now) {
  auto it = steps_.find(key);
  if (it == steps_.end()) return;
  it->second.tree.set_now(now.boot);
  it->second.machine->receive(command, now);
  // dispatch(), which is due at once, reports the consequences.
  schedule(key, now.boot);
}

std::vector<AttemptReport> Mock::list(node::Moment) {
  std::vector<AttemptReport> reports;
  for (const auto& [key, step] : steps_)
    if (Result<AttemptReport> report = report_attempt(spool_, key, boot_id_)) {
      report->stopped = step.machine->stopped_by();
      reports.push_back(std::move(*report));
    }
  return reports;
}

void Mock::dispatch(node::Moment now) {
  while (!due_.empty() && due_.begin()->first <= now.boot) turn(due_.begin()->second, now);
}

void Mock::turn(const AttemptKey& key_in_set, node::Moment now) {
  const AttemptKey key = key_in_set;
  schedule(key, std::nullopt);
  auto it = steps_.find(key);
  if (it == steps_.end()) return;
  Step& step = it->second;
  step.tree.set_now(now.boot);
  if (step.start_at && *step.start_at <= now.boot) {
    step.start_at.reset();
    (void)step.machine->start(now);
  }
  step.tree.announce(*step.machine, now);
  if (!step.machine->finished()) step.machine->tick(now);
  std::optional<BootTime> next = step.start_at;
  if (!step.machine->finished() && !next) {
    next = step.machine->next_deadline();
    if (auto due = step.tree.due(); due && (!next || *due < *next)) next = due;
  }
  schedule(key, next);
  report(key, step, now);
}

void Mock::report(const AttemptKey& key, Step& step, node::Moment now) {
  if (step.machine->finished())
    step.dir.reset();  // releases the lock, as the end of a process would
  Result<AttemptReport> current = report_attempt(spool_, key, boot_id_);
  if (!current) return;
  current->stopped = step.machine->stopped_by();
  if (current->phase == step.told && current->stopped == step.told_stopped) return;
  step.told = current->phase;
  step.told_stopped = current->stopped;
  events_.attempt_changed(*current, now);  // may release the step
}

void Mock::schedule(const AttemptKey& key, std::optional<BootTime> at) {
  auto it = steps_.find(key);
  if (it == steps_.end()) return;
  if (it->second.scheduled) due_.erase({*it->second.scheduled, key});
  it->second.scheduled = at;
  if (at) due_.emplace(*at, key);
}

Result<std::unique_ptr<Backend>> make(HostInfo host, node::ExecutorEvents& events,
                                      const LaunchTexts& texts) {
  node::FieldReader in("options", host.options);
  Options options;
  options.start_delay = std::chrono::milliseconds(in.number_or<std::int64_t>("start_delay_ms", 0));
  options.run_time = std::chrono::milliseconds(in.number_or<std::int64_t>("run_time_ms", 0));
  options.fail_permille = in.number_or<std::uint32_t>("fail_permille", 0);
  options.launch_fail_permille = in.number_or<std::uint32_t>("launch_fail_permille", 0);
  if (is_chosen(host.node, 2, in.number_or<std::uint32_t>("slow_permille", 0)))
    options.start_delay = std::chrono::milliseconds(in.number_or<std::int64_t>("slow_delay_ms", 0));
  if (Status read = in.status(); !read) return fail(read.error());
  return std::make_unique<Mock>(options, events, texts, std::move(host.boot_id));
}

void* open(const ares_exec_host* host, char* error, std::size_t error_size) {
  return open_backend(host, error, error_size, make);
}

}  // namespace

const ares_exec_plugin* mock_plugin() {
  static const ares_exec_plugin table = backend_table(
      "mock", [] { return std::int32_t{1}; }, open);
  return &table;
}

}  // namespace ares::exec

#ifdef ARES_PLUGIN_MODULE
extern "C" const ares_exec_plugin* ARES_EXEC_ENTRY(void) {
  return ares::exec::mock_plugin();
}
#endif
