#include "exec/adapter/open_plugin.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "exec/adapter/convert.h"

namespace ares::exec {
namespace {

constexpr std::size_t kErrorSize = 512;

// What the plugin's release knows of the struct; the rest is 0.
template <class Struct>
Struct whole(const Struct& given) {
  Struct out{};
  std::memcpy(&out, &given, std::min(given.size, sizeof out));
  return out;
}

std::string read_or_empty(const node::AttemptDir* dir, node::Record record) {
  if (!dir) return {};
  Result<std::string> text = dir->read(record);
  return text ? std::move(*text) : std::string();
}

}  // namespace

class OpenPlugin::Attempts final : public node::Executor {
 public:
  Attempts(OpenPlugin& open, ares_exec_node number, node::Spool& spool)
      : open_(open), number_(number), spool_(spool) {}
  ~Attempts() override {
    open_.served_.erase(number_);  // first: no event reaches the node from here on
    open_.plugin_.remove_node(open_.self_, number_);
  }
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  Status launch(const node::StepSpec& spec, node::Moment now) override;
  void go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) override;
  void kill(const Kill& kill, node::Moment now) override;
  void give_up(const Kill& kill, node::Moment now) override;
  void signal(const Signal& signal, node::Moment now) override;
  void set_limit(const SetLimit& limit, node::Moment now) override;
  void set_suspended(const SetSuspended& message, node::Moment now) override;
  void checkpoint_known(const CheckpointKnown& message, node::Moment now) override;
  void output_stored(const node::OutputStored& stored) override;
  bool tells_stopped() const override;
  void renew_lease(const AttemptKey& key, BootTime until, node::Moment now) override;
  void release(const AttemptKey& key, node::Moment now) override;
  std::optional<AttemptUse> use_of(const AttemptKey& key) override;
  std::vector<AttemptReport> list(node::Moment now) override;

 private:
  // The functions of the plugin, for a call at this time.
  const ares_exec_plugin& table(node::Moment now) {
    open_.now_ = now;
    return open_.plugin_;
  }
  void* self() const { return open_.self_; }
  ares_exec_key key_of(const AttemptKey& key) const { return to_abi(key, number_); }

  OpenPlugin& open_;
  ares_exec_node number_;
  node::Spool& spool_;
};

Result<std::unique_ptr<OpenPlugin>> OpenPlugin::open(const ares_exec_plugin& plugin,
                                                     std::string options, NodeEvents& nodes) {
  std::unique_ptr<OpenPlugin> self(new OpenPlugin(whole(plugin), std::move(options), nodes));
  ares_exec_host& host = self->host_;
  host.size = sizeof host;
  host.context = self.get();
  host.changed = [](void* context, const ares_exec_report* report) {
    static_cast<OpenPlugin*>(context)->changed(whole(*report));
  };
  host.launch_failed = [](void* context, ares_exec_key key, uint64_t fence, int32_t result,
                          ares_exec_text cause) {
    static_cast<OpenPlugin*>(context)->launch_failed(key, fence, result,
                                                     std::string(from_abi(cause)));
  };
  host.node_changed = [](void* context, const ares_exec_found_node* node) {
    static_cast<OpenPlugin*>(context)->node_changed(whole(*node));
  };
  host.node_removed = [](void* context, ares_exec_text name, ares_exec_text why) {
    static_cast<OpenPlugin*>(context)->nodes_.node_removed(std::string(from_abi(name)),
                                                           std::string(from_abi(why)));
  };
  host.options = to_abi(std::string_view(self->options_));
  host.say = [](void* context, ares_exec_text text) {
    static_cast<OpenPlugin*>(context)->nodes_.say(std::string(from_abi(text)));
  };
  host.failed = [](void* context, ares_exec_text why) {
    auto* open = static_cast<OpenPlugin*>(context);
    open->nodes_.failed(open->error_of(std::string(from_abi(why))).message);
  };
  host.stop_fd = nodes.stop_fd();
  host.output = [](void* context, const ares_exec_output* part) {
    static_cast<OpenPlugin*>(context)->output(whole(*part));
  };
  char error[kErrorSize] = "";
  self->self_ = plugin.open(&host, error, sizeof error);
  if (!self->self_) return fail(self->error_of(error));
  return self;
}

Error OpenPlugin::error_of(const std::string& message) const {
  return {ErrorCode::failed_precondition,
          std::string("exec plugin ") + plugin_.name + ": " + message};
}

OpenPlugin::~OpenPlugin() {
  if (self_) plugin_.close(self_);
}

Result<std::unique_ptr<node::Executor>> OpenPlugin::add_node(const PluginNode& node,
                                                             node::Spool& spool,
                                                             node::ExecutorEvents& events) {
  const ares_exec_node number = ++next_;
  served_.emplace(number, Served{&events});
  ares_exec_node_setup setup{};
  setup.size = sizeof setup;
  setup.node = number;
  setup.name = to_abi(std::string_view(node.name));
  setup.spool = to_abi(std::string_view(node.spool));
  setup.boot_id = to_abi(std::string_view(node.boot_id));
  char error[kErrorSize] = "";
  if (plugin_.add_node(self_, &setup, error, sizeof error) != ARES_EXEC_OK) {
    served_.erase(number);
    return fail(error_of(error));
  }
  return std::make_unique<Attempts>(*this, number, spool);
}

// --- what the plugin tells ----------------------------------------------------------------------

void OpenPlugin::changed(const ares_exec_report& report) {
  const auto node = served_.find(report.key.node);
  if (node == served_.end()) return;
  if (node->second.collecting)
    node->second.collecting->push_back(from_abi(report));
  else
    node->second.events->attempt_changed(from_abi(report), now_);
}

void OpenPlugin::launch_failed(ares_exec_key key, std::uint64_t fence, std::int32_t result,
                               std::string cause) {
  const auto node = served_.find(key.node);
  if (node == served_.end()) return;
  node->second.events->launch_failed(from_abi(key), Fence(fence), result != ARES_EXEC_JOB_FAULT,
                                     cause, now_);
}

void OpenPlugin::node_changed(const ares_exec_found_node& node) {
  FoundNode found{std::string(from_abi(node.name)),
                  std::string(from_abi(node.identity)),
                  node.incarnation,
                  {},
                  std::string(from_abi(node.problem)),
                  node.gone != 0};
  if (Result<Inventory> inventory = decode_inventory(from_abi(node.inventory)))
    found.inventory = std::move(*inventory);
  else if (found.problem.empty())
    found.problem = inventory.error().message;
  // Without them it would be taken for a configured node, or for the one before it.
  if (found.name.empty() || found.identity.empty() || found.incarnation == 0) return;
  nodes_.node_changed(found);
}

void OpenPlugin::output(const ares_exec_output& part) {
  const auto node = served_.find(part.key.node);
  if (node == served_.end()) return;
  node->second.events->output({.attempt = from_abi(part.key),
                               .fence = Fence(part.fence),
                               .offset = part.offset,
                               .data = from_abi(part.data),
                               .ended = part.ended != 0});
}

void OpenPlugin::take_output(bool taken) {
  if (plugin_.take_output) plugin_.take_output(self_, taken);
}

// --- the loop -----------------------------------------------------------------------------------

int OpenPlugin::event_fd() const {
  return plugin_.event_fd(self_);
}

std::optional<BootTime> OpenPlugin::next_deadline() const {
  return time_from_abi<BootTime>(plugin_.next_deadline_us(self_));
}

void OpenPlugin::dispatch(node::Moment now) {
  now_ = now;
  plugin_.dispatch(self_);
}

// --- attempts of a node -------------------------------------------------------------------------

Status OpenPlugin::Attempts::launch(const node::StepSpec& spec, node::Moment now) {
  const std::unique_ptr<node::AttemptDir> dir = spool_.open(spec.launch.attempt);
  const std::string text = encode(spec);
  const std::string script = read_or_empty(dir.get(), node::Record::script);
  const std::string environment = read_or_empty(dir.get(), node::Record::environment);
  ares_exec_launch launch{};
  launch.key = key_of(spec.launch.attempt);
  launch.fence = spec.launch.fence.value();
  launch.spec = to_abi(std::string_view(text));
  launch.script = to_abi(std::string_view(script));
  launch.environment = to_abi(std::string_view(environment));
  char error[kErrorSize] = "";
  const int32_t result = table(now).launch(self(), &launch, error, sizeof error);
  if (result == ARES_EXEC_OK) return {};
  return fail(result == ARES_EXEC_JOB_FAULT ? ErrorCode::invalid_argument : ErrorCode::unavailable,
              error);
}

void OpenPlugin::Attempts::go(const Go& go, std::optional<BootTime> lease_until, node::Moment now) {
  table(now).go(self(), key_of(go.attempt), go.fence.value(), to_abi(lease_until));
}

void OpenPlugin::Attempts::kill(const Kill& kill, node::Moment now) {
  table(now).kill(self(), key_of(kill.attempt), kill.fence.value(), kill.immediately,
                  kill.grace ? kill.grace->count() : ARES_EXEC_NONE);
}

void OpenPlugin::Attempts::give_up(const Kill& kill, node::Moment now) {
  const ares_exec_plugin& plugin = table(now);
  if (plugin.give_up) plugin.give_up(self(), key_of(kill.attempt), kill.fence.value());
}

void OpenPlugin::Attempts::signal(const Signal& signal, node::Moment now) {
  table(now).signal(self(), key_of(signal.attempt), signal.fence.value(), signal.lsn.value(),
                    signal.signal, signal.batch_only);
}

void OpenPlugin::Attempts::set_limit(const SetLimit& limit, node::Moment now) {
  table(now).set_limit(self(), key_of(limit.attempt), limit.fence.value(), limit.lsn.value(),
                       limit.time_limit ? limit.time_limit->count() : ARES_EXEC_NONE);
}

void OpenPlugin::Attempts::set_suspended(const SetSuspended& message, node::Moment now) {
  const ares_exec_plugin& plugin = table(now);
  const ares_exec_key key = key_of(message.attempt);
  if (plugin.set_suspended)
    plugin.set_suspended(self(), key, message.fence.value(), message.lsn.value(), message.suspended,
                         message.grace.count());
  else
    plugin.signal(self(), key, message.fence.value(), message.lsn.value(),
                  message.suspended ? SIGSTOP : SIGCONT, 0);
}

bool OpenPlugin::Attempts::tells_stopped() const {
  return open_.plugin_.set_suspended != nullptr;
}

void OpenPlugin::Attempts::checkpoint_known(const CheckpointKnown& message, node::Moment now) {
  const ares_exec_plugin& plugin = table(now);
  if (plugin.checkpoint_known)
    plugin.checkpoint_known(self(), key_of(message.attempt), message.fence.value(),
                            message.sequence);
}

void OpenPlugin::Attempts::output_stored(const node::OutputStored& stored) {
  const ares_exec_plugin& plugin = open_.plugin_;
  if (plugin.output_stored)
    plugin.output_stored(self(), key_of(stored.attempt), stored.fence.value(), stored.size,
                         stored.ended);
}

void OpenPlugin::Attempts::renew_lease(const AttemptKey& key, BootTime until, node::Moment now) {
  table(now).renew_lease(self(), key_of(key), until.time_since_epoch().count());
}

void OpenPlugin::Attempts::release(const AttemptKey& key, node::Moment now) {
  table(now).release(self(), key_of(key));
}

std::optional<AttemptUse> OpenPlugin::Attempts::use_of(const AttemptKey& key) {
  ares_exec_use use{};
  use.size = sizeof use;
  const ares_exec_plugin& plugin = open_.plugin_;
  if (!plugin.use_of || plugin.use_of(self(), key_of(key), &use) == 0) return std::nullopt;
  return AttemptUse{key,
                    {Duration(use.user_cpu_us), Duration(use.system_cpu_us), Bytes(use.max_rss),
                     Bytes(use.disk_read), Bytes(use.disk_written)},
                    Bytes(use.memory),
                    use.processes};
}

std::vector<AttemptReport> OpenPlugin::Attempts::list(node::Moment now) {
  std::vector<AttemptReport> reports;
  Served& served = open_.served_.at(number_);
  served.collecting = &reports;
  table(now).list(self(), number_);
  served.collecting = nullptr;
  return reports;
}

}  // namespace ares::exec
