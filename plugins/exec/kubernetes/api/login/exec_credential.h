// The object ExecCredential, by which a client and a credential program talk (client.authentication.k8s.io/v1 and v1beta1). Pure; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "exec/kubernetes/api/login/access.h"

namespace ares::kubernetes {

// What a client shows to a server.
struct Login {
  std::string token;  // empty: none
  std::string certificate_pem;
  std::string key_pem;

  friend bool operator==(const Login&, const Login&) = default;
};

// The value of KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, const ServerAccess& access);

struct ExecCredential {
  Login login;
  std::optional<Time> expires_at;
};

// Reads the program's output. invalid_argument: it is not what the plugin's version promises. Messages contain nothing of it, since it
// may be secret.
Result<ExecCredential> parse_exec_credential(std::string_view output, std::string_view api_version);

}  // namespace ares::kubernetes
