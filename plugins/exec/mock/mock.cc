#include "exec/mock/mock.h"

#include <map>
#include <set>
#include <tuple>

#include "exec/adapter/backend.h"
#include "exec/mock/node_file.h"
#include "exec/mock/simulated_tree.h"
#include "node/memory_spool.h"
#include "node/step.h"
#include "node/text_fields.h"

namespace ares::exec {
namespace {

struct Options {
  Duration start_delay{};
  Duration run_time{};
  Duration slow_delay{};
  std::uint32_t slow_permille = 0;
  std::uint32_t fail_permille = 0;
  std::uint32_t launch_fail_permille = 0;
};

// Deterministic: the same choice for the same key every time.
template <class T>
bool is_chosen(const T& what, std::uint64_t salt, std::uint32_t permille) {
  return (std::hash<T>{}(what) ^ salt) * 0x9e3779b97f4a7c15ULL % 1000 < permille;
}

class MockNode;

// When something is due on which node.
using Due = std::set<std::tuple<BootTime, MockNode*, AttemptKey>>;

// The attempts of one node: runs the state machine of aresstepd on a directory in memory and simulated processes.
class MockNode final : public node::Executor {
 public:
  MockNode(const Options& options, const NodeFile* file, Due& due, AddedNode node,
           node::ExecutorEvents& events, const LaunchTexts& texts)
      : options_(options),
        file_(file),
        name_(node.name),
        start_delay_(is_chosen(node.name, 2, options.slow_permille) ? options.slow_delay
                                                                    : options.start_delay),
        due_(due),
        events_(events),
        texts_(texts),
        boot_id_(std::move(node.boot_id)) {}
  ~MockNode() override {
    for (const auto& [key, step] : steps_)
      if (step.scheduled) due_.erase({*step.scheduled, this, key});
  }
  MockNode(const MockNode&) = delete;
  MockNode& operator=(const MockNode&) = delete;

  Status launch(const node::StepSpec& spec, node::Moment now) override;
  void go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) override {
    tell(go.attempt, node::StepGo{go.fence, lease_until}, now);
  }
  void kill(const Kill& kill, node::Moment now) override;
  void give_up(const Kill& kill, node::Moment now) override;
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

  void turn(const AttemptKey& key, node::Moment now);  // what is due of the attempt

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
  void report(const AttemptKey& key, Step& step, node::Moment now);
  void schedule(const AttemptKey& key, std::optional<BootTime> at);

  bool is_gone() const { return file_ && file_->is_gone(name_); }

  const Options& options_;
  const NodeFile* file_;  // null: the backend finds no nodes
  std::string name_;
  Duration start_delay_;
  Due& due_;
  node::ExecutorEvents& events_;
  const LaunchTexts& texts_;
  std::string boot_id_;
  node::MemorySpool spool_;
  std::map<AttemptKey, Step> steps_;
};

class Mock final : public Backend {
 public:
  Mock(Options options, std::unique_ptr<NodeFile> file, NodeEvents& nodes)
      : options_(options), file_(std::move(file)), nodes_(nodes) {}

  Result<std::unique_ptr<node::Executor>> add_node(AddedNode node, node::ExecutorEvents& events,
                                                   const LaunchTexts& texts) override {
    return std::make_unique<MockNode>(options_, file_.get(), due_, std::move(node), events, texts);
  }
  int event_fd() const override { return file_ ? file_->event_fd() : -1; }
  std::optional<BootTime> next_deadline() const override {
    if (file_ && !file_->was_read()) return BootTime{};  // at once
    return due_.empty() ? std::nullopt : std::optional<BootTime>(std::get<0>(*due_.begin()));
  }
  void dispatch(node::Moment now) override {
    if (file_) (void)file_->look(nodes_);  // without a change if it is being edited and wrong
    while (!due_.empty() && std::get<0>(*due_.begin()) <= now.boot) {
      const auto [at, node, key] = *due_.begin();
      node->turn(key, now);
    }
  }

 private:
  Options options_;
  Due due_;
  std::unique_ptr<NodeFile> file_;  // null: it finds no nodes
  NodeEvents& nodes_;
};

Status MockNode::launch(const node::StepSpec& spec, node::Moment now) {
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
  step.start_at = now.boot + start_delay_;
  schedule(key, step.start_at);
  return {};
}

void MockNode::kill(const Kill& kill, node::Moment now) {
  auto it = steps_.find(kill.attempt);
  if (it == steps_.end()) return;
  if (it->second.start_at) {  // still in its start delay
    it->second.start_at.reset();
    (void)it->second.machine->start(now);
  }
  tell(kill.attempt, node::StepKill{kill.fence, kill.immediately, kill.grace}, now);
}

void MockNode::give_up(const Kill& kill, node::Moment now) {
  const auto it = steps_.find(kill.attempt);
  if (it == steps_.end() || !is_gone()) return;
  schedule(kill.attempt, std::nullopt);
  AttemptReport lost =
      node::bare_report(kill.attempt, it->second.fence, AttemptPhase::lost, "its machine is gone");
  events_.attempt_changed(lost, now);  // may release the step
}

void MockNode::tell(const AttemptKey& key, const node::StepCommand& command, node::Moment now) {
  auto it = steps_.find(key);
  if (it == steps_.end()) return;
  it->second.tree.set_now(now.boot);
  it->second.machine->receive(command, now);
  // dispatch(), which is due at once, reports the consequences.
  schedule(key, now.boot);
}

std::vector<AttemptReport> MockNode::list(node::Moment) {
  std::vector<AttemptReport> reports;
  for (const auto& [key, step] : steps_)
    if (Result<AttemptReport> report = report_attempt(spool_, key, boot_id_)) {
      report->stopped = step.machine->stopped_by();
      reports.push_back(std::move(*report));
    }
  return reports;
}

void MockNode::turn(const AttemptKey& key, node::Moment now) {
  schedule(key, std::nullopt);
  auto it = steps_.find(key);
  if (it == steps_.end() || is_gone()) return;
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

void MockNode::report(const AttemptKey& key, Step& step, node::Moment now) {
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

void MockNode::schedule(const AttemptKey& key, std::optional<BootTime> at) {
  auto it = steps_.find(key);
  if (it == steps_.end()) return;
  if (it->second.scheduled) due_.erase({*it->second.scheduled, this, key});
  it->second.scheduled = at;
  if (at) due_.emplace(*at, this, key);
}

Result<std::unique_ptr<Backend>> make(std::string text, NodeEvents& nodes) {
  node::FieldReader in("options", text);
  Options options;
  options.start_delay = std::chrono::milliseconds(in.number_or<std::int64_t>("start_delay_ms", 0));
  options.run_time = std::chrono::milliseconds(in.number_or<std::int64_t>("run_time_ms", 0));
  options.fail_permille = in.number_or<std::uint32_t>("fail_permille", 0);
  options.launch_fail_permille = in.number_or<std::uint32_t>("launch_fail_permille", 0);
  options.slow_permille = in.number_or<std::uint32_t>("slow_permille", 0);
  options.slow_delay = std::chrono::milliseconds(in.number_or<std::int64_t>("slow_delay_ms", 0));
  const std::string path = in.text_or_empty("nodes_file");
  if (Status read = in.status(); !read) return fail(read.error());
  std::unique_ptr<NodeFile> file;
  if (!path.empty()) {
    auto opened = NodeFile::open(path);
    if (!opened) return fail(opened.error());
    file = std::move(*opened);
  }
  return std::make_unique<Mock>(options, std::move(file), nodes);
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
