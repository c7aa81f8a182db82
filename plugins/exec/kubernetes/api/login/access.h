// How an API server is reached and how a client identifies itself to it, as a kubeconfig or the folder of a service account says.
// Plain data; any thread.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ares::kubernetes {

struct ExecPlugin {
  std::string api_version{};  // client.authentication.k8s.io/v1 or v1beta1
  std::string command{};      // an absolute path, or a name that is looked for in PATH
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>>
      environment{};  // in addition to that of this process
  std::string install_hint{};
  bool provide_cluster_info = false;
};

struct NoToken {};
struct Token {
  std::string token{};
};
struct TokenFile {
  std::string path{};
};

struct ServerAccess {
  std::string server{};           // https://HOST[:PORT][/PREFIX], without a slash at its end
  std::string tls_server_name{};  // expected in its certificate; empty: HOST
  std::string proxy_url{};        // empty: none
  std::string ca_pem{};           // certificates of authorities to trust; empty: the system's
  std::string space{};  // the namespace of the context, or of the service account; may be empty
  std::string client_certificate_pem{};
  std::string client_key_pem{};
  std::variant<NoToken, Token, TokenFile, ExecPlugin> token{};
};

// Gives the content of a file.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Whether the token can be sent in a header.
bool is_token(std::string_view text);

}  // namespace ares::kubernetes
