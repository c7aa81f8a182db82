#include "exec/kubernetes/api/login/sources.h"

#include <cstdlib>
#include <utility>

#include "exec/kubernetes/api/login/kubeconfig.h"
#include "os/clock.h"
#include "os/file.h"

namespace ares::kubernetes {
namespace {

Result<std::string> read_file(const std::string& path) {
  return os::read_file(path);
}

CredentialParts parts_of(std::function<Result<ServerAccess>()> load) {
  return {std::move(load), read_file, [] { return os::wall_now(); }, [] { return os::boot_now(); }};
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

CredentialParts from_kubeconfig(std::string path, std::string context) {
  return parts_of([path = std::move(path), context = std::move(context)]() -> Result<ServerAccess> {
    const auto text = read_file(path);
    if (!text) return fail(text.error());
    return parse_kubeconfig(*text, path, context, read_file);
  });
}

CredentialParts from_service_account(std::string folder) {
  return parts_of([folder = std::move(folder)] {
    return in_cluster_access(variable("KUBERNETES_SERVICE_HOST"),
                             variable("KUBERNETES_SERVICE_PORT"), folder, read_file);
  });
}

}  // namespace ares::kubernetes
