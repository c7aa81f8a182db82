#include "exec/adapter/plugin_executor.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "exec/adapter/convert.h"

namespace ares::exec {
namespace {

constexpr std::size_t kErrorSize = 512;

std::string read_or_empty(const node::AttemptDir* dir, node::Record record) {
  if (!dir) return {};
  Result<std::string> text = dir->read(record);
  return text ? std::move(*text) : std::string();
}

// What the plugin knows of a report; the rest is 0.
ares_exec_report whole(const ares_exec_report* report, const ares_exec_plugin& plugin) {
  ares_exec_report out{};
  constexpr std::size_t kFirst = offsetof(ares_exec_report, disk_read);  // of ABI without the size
  const bool told = plugin.size > offsetof(ares_exec_plugin, report_size);
  const std::size_t known = told ? std::max(plugin.report_size, kFirst) : kFirst;
  std::memcpy(&out, report, std::min(known, sizeof out));
  return out;
}

}  // namespace

Result<std::unique_ptr<PluginExecutor>> PluginExecutor::open(const ares_exec_plugin& plugin,
                                                             PluginSetup setup, node::Spool& spool,
                                                             node::ExecutorEvents& events) {
  std::unique_ptr<PluginExecutor> self(new PluginExecutor(plugin, std::move(setup), spool, events));
  ares_exec_host& host = self->host_;
  host.size = sizeof host;
  host.context = self.get();
  host.changed = [](void* context, const ares_exec_report* report) {
    auto* executor = static_cast<PluginExecutor*>(context);
    const AttemptReport known = from_abi(whole(report, executor->plugin_));
    if (executor->collecting_)
      executor->collecting_->push_back(known);
    else
      executor->events_.attempt_changed(known, executor->now_);
  };
  host.launch_failed = [](void* context, ares_exec_key key, uint64_t fence, int32_t result,
                          ares_exec_text cause) {
    auto* executor = static_cast<PluginExecutor*>(context);
    executor->events_.launch_failed(from_abi(key), Fence(fence), result != ARES_EXEC_JOB_FAULT,
                                    std::string(from_abi(cause)), executor->now_);
  };
  host.node = to_abi(std::string_view(self->setup_.node));
  host.spool = to_abi(std::string_view(self->setup_.spool));
  host.boot_id = to_abi(std::string_view(self->setup_.boot_id));
  host.options = to_abi(std::string_view(self->setup_.options));
  char error[kErrorSize] = "";
  self->self_ = plugin.open(&host, error, sizeof error);
  if (!self->self_)
    return fail(ErrorCode::failed_precondition,
                std::string("exec plugin ") + plugin.name + ": " + error);
  return self;
}

PluginExecutor::~PluginExecutor() {
  if (self_) plugin_.close(self_);
}

Status PluginExecutor::launch(const node::StepSpec& spec, node::Moment now) {
  now_ = now;
  const std::unique_ptr<node::AttemptDir> dir = spool_.open(spec.launch.attempt);
  const std::string text = encode(spec);
  const std::string script = read_or_empty(dir.get(), node::Record::script);
  const std::string environment = read_or_empty(dir.get(), node::Record::environment);
  ares_exec_launch launch{};
  launch.key = to_abi(spec.launch.attempt);
  launch.fence = spec.launch.fence.value();
  launch.spec = to_abi(std::string_view(text));
  launch.script = to_abi(std::string_view(script));
  launch.environment = to_abi(std::string_view(environment));
  char error[kErrorSize] = "";
  const int32_t result = plugin_.launch(self_, &launch, error, sizeof error);
  if (result == ARES_EXEC_OK) return {};
  return fail(result == ARES_EXEC_JOB_FAULT ? ErrorCode::invalid_argument : ErrorCode::unavailable,
              error);
}

void PluginExecutor::go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) {
  now_ = now;
  plugin_.go(self_, to_abi(go.attempt), go.fence.value(), to_abi(lease_until));
}

void PluginExecutor::kill(const Kill& kill, node::Moment now) {
  now_ = now;
  plugin_.kill(self_, to_abi(kill.attempt), kill.fence.value(), kill.immediately,
               kill.grace ? kill.grace->count() : ARES_EXEC_NONE);
}

void PluginExecutor::signal(const Signal& signal, node::Moment now) {
  now_ = now;
  plugin_.signal(self_, to_abi(signal.attempt), signal.fence.value(), signal.lsn.value(),
                 signal.signal, signal.batch_only);
}

void PluginExecutor::set_limit(const SetLimit& limit, node::Moment now) {
  now_ = now;
  plugin_.set_limit(self_, to_abi(limit.attempt), limit.fence.value(), limit.lsn.value(),
                    limit.time_limit ? limit.time_limit->count() : ARES_EXEC_NONE);
}

void PluginExecutor::set_suspended(const SetSuspended& message, node::Moment now) {
  now_ = now;
  const ares_exec_key key = to_abi(message.attempt);
  const bool has =
      plugin_.size > offsetof(ares_exec_plugin, set_suspended) && plugin_.set_suspended;
  if (has)
    plugin_.set_suspended(self_, key, message.fence.value(), message.lsn.value(), message.suspended,
                          message.grace.count());
  else  // built before set_suspended existed: its signals use the same lsn
    plugin_.signal(self_, key, message.fence.value(), message.lsn.value(),
                   message.suspended ? SIGSTOP : SIGCONT, 0);
}

bool PluginExecutor::tells_stopped() const {
  return plugin_.size > offsetof(ares_exec_plugin, report_size) &&
         plugin_.report_size > offsetof(ares_exec_report, stopped);
}

void PluginExecutor::checkpoint_known(const CheckpointKnown& message, node::Moment now) {
  now_ = now;
  if (plugin_.size > offsetof(ares_exec_plugin, checkpoint_known) && plugin_.checkpoint_known)
    plugin_.checkpoint_known(self_, to_abi(message.attempt), message.fence.value(),
                             message.sequence);
}

void PluginExecutor::renew_lease(const AttemptKey& key, BootTime until, node::Moment now) {
  now_ = now;
  plugin_.renew_lease(self_, to_abi(key), until.time_since_epoch().count());
}

void PluginExecutor::release(const AttemptKey& key, node::Moment now) {
  now_ = now;
  plugin_.release(self_, to_abi(key));
}

std::optional<AttemptUse> PluginExecutor::use_of(const AttemptKey& key) {
  ares_exec_use use{};
  use.size = sizeof use;
  if (plugin_.size <= offsetof(ares_exec_plugin, use_of) || !plugin_.use_of ||
      plugin_.use_of(self_, to_abi(key), &use) == 0)
    return std::nullopt;
  return AttemptUse{key,
                    {Duration(use.user_cpu_us), Duration(use.system_cpu_us), Bytes(use.max_rss),
                     Bytes(use.disk_read), Bytes(use.disk_written)},
                    Bytes(use.memory),
                    use.processes};
}

std::vector<AttemptReport> PluginExecutor::list(node::Moment now) {
  now_ = now;
  std::vector<AttemptReport> reports;
  collecting_ = &reports;
  plugin_.list(self_);
  collecting_ = nullptr;
  return reports;
}

int PluginExecutor::event_fd() const {
  return plugin_.event_fd(self_);
}

std::optional<BootTime> PluginExecutor::next_deadline() const {
  return time_from_abi<BootTime>(plugin_.next_deadline_us(self_));
}

void PluginExecutor::dispatch(node::Moment now) {
  now_ = now;
  plugin_.dispatch(self_);
}

}  // namespace ares::exec
