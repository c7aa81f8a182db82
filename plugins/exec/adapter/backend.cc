#include "exec/adapter/backend.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "exec/adapter/convert.h"
#include "node/checkpoint_fields.h"
#include "os/clock.h"

namespace ares::exec {
namespace {

node::Moment now() {
  return {os::wall_now(), os::boot_now()};
}

// The backend, its launch texts, and the host that gets its events.
struct Instance final : node::ExecutorEvents {
  ares_exec_host host{};
  LaunchTexts texts;
  std::unique_ptr<Backend> backend;

  void attempt_changed(const AttemptReport& report, node::Moment) override {
    const std::string checkpoints = node::encode(report.checkpoints);
    ares_exec_report out = to_abi(report);
    out.checkpoints = to_abi(std::string_view(checkpoints));
    const std::string restored = node::encode(report.restored);
    out.restored = to_abi(std::string_view(restored));
    host.changed(host.context, &out);
  }
  void launch_failed(const AttemptKey& key, Fence fence, bool node_fault, const std::string& cause,
                     node::Moment) override {
    host.launch_failed(host.context, to_abi(key), fence.value(),
                       node_fault ? ARES_EXEC_NODE_FAULT : ARES_EXEC_JOB_FAULT,
                       to_abi(std::string_view(cause)));
  }
};

Backend& of(void* self) {
  return *static_cast<Instance*>(self)->backend;
}

void tell(const std::string& message, char* error, std::size_t error_size) {
  std::snprintf(error, error_size, "%s", message.c_str());
}

int32_t launch(void* self, const ares_exec_launch* launch, char* error, std::size_t error_size) {
  Result<node::StepSpec> spec = node::decode_step_spec(from_abi(launch->spec));
  if (!spec) {
    tell(spec.error().message, error, error_size);
    return ARES_EXEC_NODE_FAULT;
  }
  auto& instance = *static_cast<Instance*>(self);
  instance.texts = {from_abi(launch->script), from_abi(launch->environment)};
  Status tried = instance.backend->launch(*spec, now());
  instance.texts = {};
  if (tried) return ARES_EXEC_OK;
  tell(tried.error().message, error, error_size);
  const ErrorCode code = tried.error().code;
  return code == ErrorCode::not_found || code == ErrorCode::permission_denied ||
                 code == ErrorCode::invalid_argument
             ? ARES_EXEC_JOB_FAULT
             : ARES_EXEC_NODE_FAULT;
}

}  // namespace

void* open_backend(const ares_exec_host* host, char* error, std::size_t error_size,
                   BackendFactory factory) {
  auto instance = std::make_unique<Instance>();
  instance->host = *host;
  Result<std::unique_ptr<Backend>> backend =
      factory({std::string(from_abi(host->node)), std::string(from_abi(host->spool)),
               std::string(from_abi(host->boot_id)), std::string(from_abi(host->options))},
              *instance, instance->texts);
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
  table.report_size = sizeof(ares_exec_report);
  table.name = name;
  table.can_freeze = can_freeze;
  table.open = open;
  table.close = [](void* self) { delete static_cast<Instance*>(self); };
  table.launch = launch;
  table.go = [](void* self, ares_exec_key key, uint64_t fence, int64_t lease) {
    of(self).go({from_abi(key), Fence(fence)}, time_from_abi<BootTime>(lease), now());
  };
  table.kill = [](void* self, ares_exec_key key, uint64_t fence, int32_t immediately,
                  int64_t grace) {
    std::optional<Seconds> in_place;
    if (grace != ARES_EXEC_NONE) in_place = Seconds(grace);
    of(self).kill({from_abi(key), Fence(fence), immediately != 0, in_place}, now());
  };
  table.signal = [](void* self, ares_exec_key key, uint64_t fence, uint64_t lsn, int32_t signal,
                    int32_t batch_only) {
    of(self).signal({from_abi(key), Fence(fence), Lsn(lsn), signal, batch_only != 0}, now());
  };
  table.set_limit = [](void* self, ares_exec_key key, uint64_t fence, uint64_t lsn,
                       int64_t seconds) {
    std::optional<Seconds> limit;
    if (seconds != ARES_EXEC_NONE) limit = Seconds(seconds);
    of(self).set_limit({from_abi(key), Fence(fence), Lsn(lsn), limit}, now());
  };
  table.set_suspended = [](void* self, ares_exec_key key, uint64_t fence, uint64_t lsn,
                           int32_t suspended, int64_t grace) {
    of(self).set_suspended({from_abi(key), Fence(fence), Lsn(lsn), suspended != 0, Seconds(grace)},
                           now());
  };
  table.renew_lease = [](void* self, ares_exec_key key, int64_t until) {
    if (auto time = time_from_abi<BootTime>(until))
      of(self).renew_lease(from_abi(key), *time, now());
  };
  table.checkpoint_known = [](void* self, ares_exec_key key, uint64_t fence, uint64_t sequence) {
    of(self).checkpoint_known({from_abi(key), Fence(fence), sequence}, now());
  };
  table.use_of = [](void* self, ares_exec_key key, ares_exec_use* out) -> int32_t {
    const std::optional<AttemptUse> use = of(self).use_of(from_abi(key));
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
  table.release = [](void* self, ares_exec_key key) { of(self).release(from_abi(key), now()); };
  table.list = [](void* self) {
    auto& instance = *static_cast<Instance*>(self);
    for (const AttemptReport& report : instance.backend->list(now()))
      instance.attempt_changed(report, now());
  };
  table.event_fd = [](void* self) -> int32_t { return of(self).event_fd(); };
  table.next_deadline_us = [](void* self) { return to_abi(of(self).next_deadline()); };
  table.dispatch = [](void* self) { of(self).dispatch(now()); };
  return table;
}

}  // namespace ares::exec
