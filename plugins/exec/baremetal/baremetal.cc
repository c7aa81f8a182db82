#include "exec/baremetal/baremetal.h"

#include "exec/adapter/backend.h"
#include "exec/baremetal/step_channels.h"
#include "node/text_fields.h"
#include "os/group_use.h"
#include "os/namespace.h"

namespace ares::exec {
namespace {

class Baremetal final : public Backend {
 public:
  Baremetal(std::unique_ptr<FileSpool> spool, std::unique_ptr<StepChannels> channels,
            node::ExecutorEvents& events, std::string boot_id)
      : spool_(std::move(spool)),
        channels_(std::move(channels)),
        supervisors_(*spool_, *channels_, events, std::move(boot_id)) {}

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

  int event_fd() const override { return channels_->event_fd(); }
  std::optional<BootTime> next_deadline() const override {
    std::optional<BootTime> due = supervisors_.next_deadline();
    if (const auto other = channels_->next_deadline(); other && (!due || *other < *due))
      due = other;
    return due;
  }
  void dispatch(node::Moment now) override {
    channels_->dispatch(supervisors_, now);
    supervisors_.tick(now);
  }

 private:
  std::unique_ptr<FileSpool> spool_;
  std::unique_ptr<StepChannels> channels_;
  node::Supervisors supervisors_;
};

std::optional<AttemptUse> Baremetal::use_of(const AttemptKey& key) {
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

Result<std::unique_ptr<Backend>> make(HostInfo host, node::ExecutorEvents& events,
                                      const LaunchTexts&) {
  node::FieldReader options("options", host.options);
  std::unique_ptr<FileSpool> spool = FileSpool::share(host.spool);
  std::vector<std::string> stepd_options;
  if (options.text_or_empty("private_ipc") == "no") stepd_options.emplace_back("--shared-ipc");
  Result<std::unique_ptr<StepChannels>> channels =
      StepChannels::make({.stepd = options.text_or_empty("stepd"),
                          .stepd_options = std::move(stepd_options),
                          .namespaces = isolates(options.text_or_empty("user_namespaces") != "no"),
                          .node = {host.node, host.boot_id, options.text_or_empty("config"),
                                   options.text_or_empty("private_tmp")}},
                         *spool);
  if (!channels) return fail(channels.error());
  return std::make_unique<Baremetal>(std::move(spool), std::move(*channels), events,
                                     std::move(host.boot_id));
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
