#include "exec/kubernetes/agent/connect.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "exec/kubernetes/agent/output/output_follower.h"
#include "exec/kubernetes/api/access_check.h"
#include "exec/kubernetes/api/feature_discovery.h"
#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/login/kubeconfig.h"
#include "exec/kubernetes/api/login/sources.h"
#include "os/clock.h"

namespace ares::kubernetes {
namespace {

// A pod takes six calls. Servers have limits of their own, which the client obeys.
constexpr std::size_t kMostCalls = 64;  // at the same time, besides the logs that are followed
constexpr std::size_t kMostUrgent = 4;  // two watches, the lease, and one that is being ended

Status check_permissions(const Wait& wait, const Settings& settings) {
  std::optional<Result<std::vector<AccessQuestion>>> missing;
  check_access(wait.client,
               {.job_namespaces = job_namespaces(settings), .own_namespace = settings.space},
               [&](const Result<std::vector<AccessQuestion>>& got) { missing = got; });
  if (Status done = run_until(
          wait, [&] { return missing.has_value(); }, "permissions");
      !done)
    return done;
  if (!*missing) return fail(missing->error());
  return access_error(**missing);
}

Result<ApiAnswer> read_namespace(const Wait& wait, const std::string& name) {
  std::optional<ApiResult> result;
  wait.client.call({.call = Call::get_namespace, .target = {.name = name}},
                   [&](ApiResult got) { result = std::move(got); });
  if (Status done = run_until(
          wait, [&] { return result.has_value(); }, "the namespace " + name);
      !done)
    return fail(done.error());
  if (!*result) return fail(result->error().error);
  return std::move(**result);
}

}  // namespace

Result<std::unique_ptr<ApiClient>> open_client(const Settings& settings) {
  auto credentials = Credentials::open(
      settings.kubeconfig.empty() ? from_service_account(kServiceAccountFolder)
                                  : from_kubeconfig(settings.kubeconfig, settings.context));
  if (!credentials) return fail(credentials.error());
  auto engine =
      HttpEngine::open({.most_connections = static_cast<long>(kMostCalls + kMostUrgent +
                                                              OutputFollower::kMostConnections)});
  if (!engine) return fail(engine.error());
  ClientSettings rules;
  rules.user_agent = "ares/" ARES_VERSION;
  rules.rate.per_second = settings.calls_per_second;
  rules.rate.burst = 2 * rules.rate.per_second;
  rules.most_in_flight = kMostCalls;
  const auto seed = static_cast<std::uint64_t>(os::boot_now().time_since_epoch().count());
  return std::make_unique<ApiClient>(
      rules, ClientParts{std::move(*engine), std::move(*credentials), os::boot_now, seed});
}

Result<std::string> connect(const Wait& wait, const Settings& settings) {
  std::optional<Result<ServerFeatures>> features;
  discover(wait.client, [&](Result<ServerFeatures> got) { features = std::move(got); });
  if (Status done = run_until(
          wait, [&] { return features.has_value(); }, "its version");
      !done)
    return fail(done.error());
  if (!*features) return fail(features->error());
  if (Status usable = (*features)->check_calls(); !usable) return fail(usable.error());
  if (Status allowed = check_permissions(wait, settings); !allowed) return fail(allowed.error());
  for (const std::string& name : job_namespaces(settings))
    if (const Result<ApiAnswer> space = read_namespace(wait, name); !space)
      return fail(space.error());
  const Result<ApiAnswer> system = read_namespace(wait, "kube-system");
  if (!system) return fail(system.error());
  const Result<Json> object = parse_object(system->body, "the namespace kube-system");
  if (!object) return fail(object.error());
  return text_at(*object, {"metadata", "uid"});
}

}  // namespace ares::kubernetes
