#include "exec/adapter/backend.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "exec/adapter/convert.h"
#include "node/checkpoint_fields.h"
#include "os/clock.h"

namespace ares::exec {
namespace {

node::Moment now() {
  return {os::wall_now(), os::boot_now()};
}

// A node of the backend, and the host that gets its events.
struct ServedNode final : node::ExecutorEvents {
  const ares_exec_host* host = nullptr;
  ares_exec_node number = 0;
  LaunchTexts texts;
  std::unique_ptr<node::Executor> executor;

  void attempt_changed(const AttemptReport& report, node::Moment) override {
    ares_exec_report out = to_abi(report, number);
    const std::string checkpoints = node::encode(report.checkpoints);
    out.checkpoints = to_abi(std::string_view(checkpoints));
    const std::string restored = node::encode(report.restored);
    out.restored = to_abi(std::string_view(restored));
    host->changed(host->context, &out);
  }
  void launch_failed(const AttemptKey& key, Fence fence, bool node_fault, const std::string& cause,
                     node::Moment) override {
    host->launch_failed(host->context, to_abi(key, number), fence.value(),
                        node_fault ? ARES_EXEC_NODE_FAULT : ARES_EXEC_JOB_FAULT,
                        to_abi(std::string_view(cause)));
  }
  void output(const node::OutputPart& part) override {
    if (!host->output) return;
    ares_exec_output out{};
    out.size = sizeof out;
    out.key = to_abi(part.attempt, number);
    out.fence = part.fence.value();
    out.offset = part.offset;
    out.data = to_abi(part.data);
    out.ended = part.ended;
    host->output(host->context, &out);
  }
};

// The backend and its nodes, by their numbers.
struct Instance final : NodeEvents {
  ares_exec_host host{};
  std::unique_ptr<Backend> backend;
  std::unordered_map<ares_exec_node, ServedNode>
      nodes;  // declared after the backend: destroyed before it

  void node_changed(const FoundNode& node) override {
    if (!host.node_changed) return;
    const std::string inventory = encode_inventory(node.inventory);
    ares_exec_found_node out{};
    out.size = sizeof out;
    out.name = to_abi(std::string_view(node.name));
    out.identity = to_abi(std::string_view(node.identity));
    out.incarnation = node.incarnation;
    out.inventory = to_abi(std::string_view(inventory));
    out.problem = to_abi(std::string_view(node.problem));
    out.gone = node.is_gone;
    host.node_changed(host.context, &out);
  }
  void node_removed(const std::string& name, const std::string& why) override {
    if (host.node_removed)
      host.node_removed(host.context, to_abi(std::string_view(name)),
                        to_abi(std::string_view(why)));
  }
  void say(const std::string& text) override {
    if (host.say) host.say(host.context, to_abi(std::string_view(text)));
  }
  void failed(const std::string& why) override {
    if (host.failed) host.failed(host.context, to_abi(std::string_view(why)));
  }
  int stop_fd() const override { return host.stop_fd; }
};

Instance& of(void* self) {
  return *static_cast<Instance*>(self);
}

// Null for a node that was not added: the call is ignored, as one for an unknown attempt is.
node::Executor* executor_of(void* self, ares_exec_node node) {
  auto& nodes = of(self).nodes;
  const auto it = nodes.find(node);
  return it == nodes.end() ? nullptr : it->second.executor.get();
}

void tell(const std::string& message, char* error, std::size_t error_size) {
  std::snprintf(error, error_size, "%s", message.c_str());
}

int32_t result_of(const Status& tried, char* error, std::size_t error_size) {
  if (tried) return ARES_EXEC_OK;
  tell(tried.error().message, error, error_size);
  const ErrorCode code = tried.error().code;
  return code == ErrorCode::not_found || code == ErrorCode::permission_denied ||
                 code == ErrorCode::invalid_argument
             ? ARES_EXEC_JOB_FAULT
             : ARES_EXEC_NODE_FAULT;
}

int32_t add_node(void* self, const ares_exec_node_setup* setup, char* error,
                 std::size_t error_size) {
  Instance& instance = of(self);
  const auto [it, added] = instance.nodes.try_emplace(setup->node);
  if (!added) {
    tell("node " + std::to_string(setup->node) + " was added before", error, error_size);
    return ARES_EXEC_NODE_FAULT;
  }
  ServedNode& node = it->second;
  node.host = &instance.host;
  node.number = setup->node;
  auto executor = instance.backend->add_node(
      {std::string(from_abi(setup->name)), std::string(from_abi(setup->spool)),
       std::string(from_abi(setup->boot_id))},
      node, node.texts);
  if (!executor) {
    instance.nodes.erase(it);
    return result_of(fail(executor.error()), error, error_size);
  }
  node.executor = std::move(*executor);
  return ARES_EXEC_OK;
}

int32_t launch(void* self, const ares_exec_launch* launch, char* error, std::size_t error_size) {
  const auto it = of(self).nodes.find(launch->key.node);
  Result<node::StepSpec> spec = node::decode_step_spec(from_abi(launch->spec));
  if (it == of(self).nodes.end() || !spec) {
    tell(spec ? "there is no such node" : spec.error().message, error, error_size);
    return ARES_EXEC_NODE_FAULT;
  }
  ServedNode& node = it->second;
  node.texts = {from_abi(launch->script), from_abi(launch->environment)};
  const Status tried = node.executor->launch(*spec, now());
  node.texts = {};
  return result_of(tried, error, error_size);
}

}  // namespace

void* open_backend(const ares_exec_host* host, char* error, std::size_t error_size,
                   BackendFactory factory) {
  auto instance = std::make_unique<Instance>();
  instance->host.stop_fd = -1;  // of a host that does not give one
  std::memcpy(&instance->host, host, std::min(host->size, sizeof instance->host));
  Result<std::unique_ptr<Backend>> backend =
      factory(std::string(from_abi(instance->host.options)), *instance);
  if (!backend) {
    tell(backend.error().message, error, error_size);
    return nullptr;
  }
  instance->backend = std::move(*backend);
  return instance.release();
}

ares_exec_plugin backend_table(const char* name, std::int32_t (*can_freeze)(),
                               void* (*open)(const ares_exec_host*, char*, std::size_t)) {
  ares_exec_plugin table{};
  table.abi_version = ARES_EXEC_ABI_VERSION;
  table.size = sizeof table;
  table.name = name;
  table.can_freeze = can_freeze;
  table.open = open;
  table.close = [](void* self) {
    const std::unique_ptr<Instance> closed(static_cast<Instance*>(self));
  };
  table.add_node = add_node;
  table.remove_node = [](void* self, ares_exec_node node) { of(self).nodes.erase(node); };
  table.launch = launch;
  table.go = [](void* self, ares_exec_key key, uint64_t fence, int64_t lease) {
    if (auto* on = executor_of(self, key.node))
      on->go({from_abi(key), Fence(fence)}, time_from_abi<BootTime>(lease), now());
  };
  table.kill = [](void* self, ares_exec_key key, uint64_t fence, int32_t immediately,
                  int64_t grace) {
    std::optional<Seconds> in_place;
    if (grace != ARES_EXEC_NONE) in_place = Seconds(grace);
    if (auto* on = executor_of(self, key.node))
      on->kill({from_abi(key), Fence(fence), immediately != 0, in_place}, now());
  };
  table.give_up = [](void* self, ares_exec_key key, uint64_t fence) {
    if (auto* on = executor_of(self, key.node))
      on->give_up({.attempt = from_abi(key), .fence = Fence(fence), .given_up = true}, now());
  };
  table.signal = [](void* self, ares_exec_key key, uint64_t fence, uint64_t lsn, int32_t signal,
                    int32_t batch_only) {
    if (auto* on = executor_of(self, key.node))
      on->signal({from_abi(key), Fence(fence), Lsn(lsn), signal, batch_only != 0}, now());
  };
  table.set_limit = [](void* self, ares_exec_key key, uint64_t fence, uint64_t lsn,
                       int64_t seconds) {
    std::optional<Seconds> limit;
    if (seconds != ARES_EXEC_NONE) limit = Seconds(seconds);
    if (auto* on = executor_of(self, key.node))
      on->set_limit({from_abi(key), Fence(fence), Lsn(lsn), limit}, now());
  };
  table.set_suspended = [](void* self, ares_exec_key key, uint64_t fence, uint64_t lsn,
                           int32_t suspended, int64_t grace) {
    if (auto* on = executor_of(self, key.node))
      on->set_suspended({from_abi(key), Fence(fence), Lsn(lsn), suspended != 0, Seconds(grace)},
                        now());
  };
  table.renew_lease = [](void* self, ares_exec_key key, int64_t until) {
    auto* on = executor_of(self, key.node);
    if (const auto time = time_from_abi<BootTime>(until); on && time)
      on->renew_lease(from_abi(key), *time, now());
  };
  table.checkpoint_known = [](void* self, ares_exec_key key, uint64_t fence, uint64_t sequence) {
    if (auto* on = executor_of(self, key.node))
      on->checkpoint_known({from_abi(key), Fence(fence), sequence}, now());
  };
  table.take_output = [](void* self, int32_t taken) { of(self).backend->take_output(taken != 0); };
  table.output_stored = [](void* self, ares_exec_key key, uint64_t fence, uint64_t size,
                           int32_t ended) {
    if (auto* on = executor_of(self, key.node))
      on->output_stored({from_abi(key), Fence(fence), size, ended != 0});
  };
  table.use_of = [](void* self, ares_exec_key key, ares_exec_use* out) -> int32_t {
    auto* on = executor_of(self, key.node);
    const std::optional<AttemptUse> use = on ? on->use_of(from_abi(key)) : std::nullopt;
    if (!use) return 0;
    const ares_exec_use known = {out->size,
                                 use->usage.user_cpu.count(),
                                 use->usage.system_cpu.count(),
                                 use->usage.max_rss.value(),
                                 use->memory.value(),
                                 use->processes,
                                 use->usage.disk_read.value(),
                                 use->usage.disk_written.value()};
    std::memcpy(out, &known, std::min(known.size, sizeof known));
    return 1;
  };
  table.release = [](void* self, ares_exec_key key) {
    if (auto* on = executor_of(self, key.node)) on->release(from_abi(key), now());
  };
  table.list = [](void* self, ares_exec_node node) {
    const auto it = of(self).nodes.find(node);
    if (it == of(self).nodes.end()) return;
    for (const AttemptReport& report : it->second.executor->list(now()))
      it->second.attempt_changed(report, now());
  };
  table.event_fd = [](void* self) -> int32_t { return of(self).backend->event_fd(); };
  table.next_deadline_us = [](void* self) { return to_abi(of(self).backend->next_deadline()); };
  table.dispatch = [](void* self) { of(self).backend->dispatch(now()); };
  return table;
}

}  // namespace ares::exec
