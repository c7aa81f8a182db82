#include "exec/kubernetes/api/login/exec_credential.h"

#include <nlohmann/json.hpp>

#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/rfc3339.h"

namespace ares::kubernetes {
namespace {

constexpr std::string_view kWhat = "the output of the credential program";

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, std::string(kWhat) + " " + what);
}

}  // namespace

std::string exec_info(const ExecPlugin& plugin, const ServerAccess& access) {
  Json spec{{"interactive", false}};
  if (plugin.provide_cluster_info) {
    Json cluster{{"server", access.server}};
    if (!access.tls_server_name.empty()) cluster["tls-server-name"] = access.tls_server_name;
    if (!access.proxy_url.empty()) cluster["proxy-url"] = access.proxy_url;
    spec["cluster"] = std::move(cluster);
  }
  const Json info{
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}};
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ExecCredential> parse_exec_credential(std::string_view output,
                                             std::string_view api_version) {
  const auto object = parse_object(output, kWhat);
  if (!object) return fail(object.error());
  if (text_at(*object, {"kind"}) != "ExecCredential") return wrong("is not an ExecCredential");
  if (text_at(*object, {"apiVersion"}) != api_version)
    return wrong("has another apiVersion than the kubeconfig, which says " +
                 std::string(api_version));
  ExecCredential credential;
  credential.login = {text_at(*object, {"status", "token"}),
                      text_at(*object, {"status", "clientCertificateData"}),
                      text_at(*object, {"status", "clientKeyData"})};
  const Login& login = credential.login;
  if (login.certificate_pem.empty() != login.key_pem.empty())
    return wrong("has only one of clientCertificateData and clientKeyData");
  if (login.token.empty() && login.certificate_pem.empty())
    return wrong("has neither a token nor a client certificate");
  if (!login.token.empty() && !is_token(login.token))
    return wrong("has a token with white space or control characters");
  if (const Json* const expires = find(*object, {"status", "expirationTimestamp"});
      expires && !expires->is_null()) {
    credential.expires_at = parse_rfc3339(text_at(*object, {"status", "expirationTimestamp"}));
    if (!credential.expires_at)
      return wrong("has an expirationTimestamp that is not a time of RFC 3339");
  }
  return credential;
}

}  // namespace ares::kubernetes
