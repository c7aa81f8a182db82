#include "exec/baremetal/baremetal.h"

#include <sys/epoll.h>

#include <set>

#include "exec/adapter/backend.h"
#include "exec/baremetal/step_channels.h"
#include "node/text_fields.h"
#include "os/fd.h"
#include "os/group_use.h"
#include "os/namespace.h"

namespace ares::exec {
namespace {

// The attempts of one node.
class BaremetalNode final : public node::Executor {
 public:
  // Is in `nodes` while it lives.
  BaremetalNode(std::set<BaremetalNode*>& nodes, std::unique_ptr<FileSpool> spool,
                std::unique_ptr<StepChannels> channels, node::ExecutorEvents& events,
                std::string boot_id)
      : nodes_(nodes),
        spool_(std::move(spool)),
        channels_(std::move(channels)),
        supervisors_(*spool_, *channels_, events, std::move(boot_id)) {
    nodes_.insert(this);
  }
  ~BaremetalNode() override { nodes_.erase(this); }
  BaremetalNode(const BaremetalNode&) = delete;
  BaremetalNode& operator=(const BaremetalNode&) = delete;

  Status launch(const node::StepSpec& spec, node::Moment now) override {
    return supervisors_.launch(spec, now);
  }
  void go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) override {
    supervisors_.go(go, lease_until, now);
  }
  void kill(const Kill& kill, node::Moment now) override { supervisors_.kill(kill, now); }
  void signal(const Signal& signal, node::Moment now) override { supervisors_.signal(signal, now); }
  void set_limit(const SetLimit& limit, node::Moment now) override {
    supervisors_.set_limit(limit, now);
  }
  void set_suspended(const SetSuspended& message, node::Moment now) override {
    supervisors_.set_suspended(message, now);
  }
  void checkpoint_known(const CheckpointKnown& message, node::Moment now) override {
    supervisors_.checkpoint_known(message, now);
  }
  void renew_lease(const AttemptKey& key, BootTime until, node::Moment now) override {
    supervisors_.renew_lease(key, until, now);
  }
  void release(const AttemptKey& key, node::Moment now) override { supervisors_.release(key, now); }
  std::optional<AttemptUse> use_of(const AttemptKey& key) override;
  std::vector<AttemptReport> list(node::Moment now) override { return supervisors_.list(now); }

  int event_fd() const { return channels_->event_fd(); }
  std::optional<BootTime> next_deadline() const {
    std::optional<BootTime> due = supervisors_.next_deadline();
    if (const auto other = channels_->next_deadline(); other && (!due || *other < *due))
      due = other;
    return due;
  }
  void dispatch(node::Moment now) {
    channels_->dispatch(supervisors_, now);
    supervisors_.tick(now);
  }

 private:
  std::set<BaremetalNode*>& nodes_;
  std::unique_ptr<FileSpool> spool_;
  std::unique_ptr<StepChannels> channels_;
  node::Supervisors supervisors_;
};

std::optional<AttemptUse> BaremetalNode::use_of(const AttemptKey& key) {
  const std::unique_ptr<node::AttemptDir> dir = spool_->open(key);
  if (!dir) return std::nullopt;
  const auto started = node::read_record(*dir, node::Record::started, node::decode_started);
  const auto task = node::read_record(*dir, node::Record::task, node::decode_task);
  std::optional<os::LiveUse> use = os::live_use(started.cgroups);
  if (!use) return std::nullopt;
  if (task.own_pid_namespace && use->processes > 0) --use->processes;  // its init
  return AttemptUse{
      key,
      {use->user_cpu, use->system_cpu, use->peak_memory, use->disk.read, use->disk.written},
      use->memory,
      use->processes};
}

// The setting concerns user namespaces only, which root does not use.
bool isolates(bool user_namespaces) {
  const os::NamespaceKind kind = os::namespace_kind();
  return (user_namespaces || kind == os::NamespaceKind::privileged) && os::can_make_namespace(kind);
}

struct Options {
  std::string stepd, config, private_tmp;
  bool private_ipc = true;
  bool user_namespaces = true;
};

// Usually of one node, the machine's.
class Baremetal final : public Backend {
 public:
  Baremetal(Options options, os::Fd poll) : options_(std::move(options)), poll_(std::move(poll)) {}

  Result<std::unique_ptr<node::Executor>> add_node(AddedNode node, node::ExecutorEvents& events,
                                                   const LaunchTexts& texts) override;
  int event_fd() const override { return poll_.get(); }
  std::optional<BootTime> next_deadline() const override;
  void dispatch(node::Moment now) override {
    for (BaremetalNode* node : nodes_) node->dispatch(now);
  }

 private:
  Options options_;
  os::Fd poll_;  // of the descriptors of all nodes
  std::set<BaremetalNode*> nodes_;
};

Result<std::unique_ptr<node::Executor>> Baremetal::add_node(AddedNode node,
                                                            node::ExecutorEvents& events,
                                                            const LaunchTexts&) {
  std::unique_ptr<FileSpool> spool = FileSpool::share(node.spool);
  std::vector<std::string> stepd_options;
  if (!options_.private_ipc) stepd_options.emplace_back("--shared-ipc");
  Result<std::unique_ptr<StepChannels>> channels = StepChannels::make(
      {.stepd = options_.stepd,
       .stepd_options = std::move(stepd_options),
       .namespaces = isolates(options_.user_namespaces),
       .node = {std::move(node.name), node.boot_id, options_.config, options_.private_tmp}},
      *spool);
  if (!channels) return fail(channels.error());
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, (*channels)->event_fd(), &readable) != 0)
    return fail(os::errno_error("cannot watch the supervisors"));
  return std::make_unique<BaremetalNode>(nodes_, std::move(spool), std::move(*channels), events,
                                         std::move(node.boot_id));
}

std::optional<BootTime> Baremetal::next_deadline() const {
  std::optional<BootTime> due;
  for (const BaremetalNode* node : nodes_)
    if (const auto other = node->next_deadline(); other && (!due || *other < *due)) due = other;
  return due;
}

Result<std::unique_ptr<Backend>> make(std::string text, NodeEvents&) {
  node::FieldReader in("options", text);
  Options options;
  options.stepd = in.text_or_empty("stepd");
  options.config = in.text_or_empty("config");
  options.private_tmp = in.text_or_empty("private_tmp");
  options.private_ipc = in.text_or_empty("private_ipc") != "no";
  options.user_namespaces = in.text_or_empty("user_namespaces") != "no";
  os::Fd poll(::epoll_create1(EPOLL_CLOEXEC));
  if (!poll) return fail(os::errno_error("cannot watch supervisors"));
  return std::make_unique<Baremetal>(std::move(options), std::move(poll));
}

void* open(const ares_exec_host* host, char* error, std::size_t error_size) {
  return open_backend(host, error, error_size, make);
}

}  // namespace

const ares_exec_plugin* baremetal_plugin() {
  static const ares_exec_plugin table = backend_table(
      "baremetal", [] { return static_cast<std::int32_t>(isolates(true)); }, open);
  return &table;
}

}  // namespace ares::exec

#ifdef ARES_PLUGIN_MODULE
extern "C" const ares_exec_plugin* ARES_EXEC_ENTRY(void) {
  return ares::exec::baremetal_plugin();
}
#endif
