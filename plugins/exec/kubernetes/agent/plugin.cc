#include "exec/kubernetes/agent/plugin.h"

#include "exec/adapter/backend.h"
#include "exec/kubernetes/agent/cluster_agent.h"

namespace ares::kubernetes {
namespace {

void* open(const ares_exec_host* host, char* error, std::size_t error_size) {
  return exec::open_backend(host, error, error_size, ClusterAgent::open);
}

}  // namespace

const ares_exec_plugin* kubernetes_plugin() {
  // A pod has no lease: it runs on if the agent dies.
  static const ares_exec_plugin table = exec::backend_table(
      "kubernetes", [] { return std::int32_t{0}; }, open);
  return &table;
}

}  // namespace ares::kubernetes

#ifdef ARES_PLUGIN_MODULE
extern "C" const ares_exec_plugin* ARES_EXEC_ENTRY(void) {
  return ares::kubernetes::kubernetes_plugin();
}
#endif
