#include "exec/kubernetes/api/login/kubeconfig.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/printable.h"
#include "config/yaml_tree.h"
#include "exec/kubernetes/api/login/base64.h"

namespace ares::kubernetes {
namespace {

using config::Entry;
using config::Value;

// Keys of a user that would change how requests are made and are not supported.
struct Unsupported {
  std::string_view key;
  const char* instead;
};
constexpr std::array<Unsupported, 7> kUnsupportedOfUser{{
    {"username", "use a token, a client certificate or an exec plugin"},
    {"password", "use a token, a client certificate or an exec plugin"},
    {"auth-provider", "use the exec plugin of that provider"},
    {"as", "give the permissions to the user itself"},
    {"as-uid", "give the permissions to the user itself"},
    {"as-groups", "give the permissions to the user itself"},
    {"as-user-extra", "give the permissions to the user itself"},
}};

class Reader {
 public:
  Reader(const std::string& path, const ReadFile& read) : path_(path), read_(read) {
    const std::size_t slash = path.rfind('/');
    folder_ = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  }

  Result<ServerAccess> read_context(const Value& file, std::string context);

 private:
  tl::unexpected<Error> wrong(int line, const std::string& what) const {
    return fail(ErrorCode::invalid_argument, path_ + ":" + std::to_string(line) + ": " + what);
  }

  static const Entry* find(const Value& map, std::string_view key) {
    for (const Entry& entry : map.entries)
      if (entry.key == key && entry.value.kind != Value::Kind::null) return &entry;
    return nullptr;
  }
  // The text of a key; empty if it is not there.
  Result<std::string> text(const Value& map, std::string_view key) const;
  Result<bool> flag(const Value& map, std::string_view key) const;
  // The field `what` of the entry of that name in the list `what`s: contexts, clusters and users are kept so.
  Result<const Value*> named(const Value& file, const std::string& what,
                             const std::string& name) const;
  // KEY-data in base64, or the content of the file KEY.
  Result<std::string> pem(const Value& map, const std::string& key) const;
  std::string absolute(const std::string& path) const {
    return path.empty() || path[0] == '/' ? path : folder_ + path;
  }

  Status read_cluster(const Value& cluster, ServerAccess& access) const;
  Status read_user(const Value& user, ServerAccess& access) const;
  Result<ExecPlugin> read_exec(const Value& exec) const;
  Status read_environment(const Value& exec, ExecPlugin& plugin) const;

  std::string path_;
  std::string folder_;
  const ReadFile& read_;
};

Result<std::string> Reader::text(const Value& map, std::string_view key) const {
  const Entry* const entry = find(map, key);
  if (!entry) return std::string();
  if (entry->value.kind != Value::Kind::scalar)
    return wrong(entry->line, quote(key) + " must be a text");
  if (entry->value.text.find('\0') != std::string::npos)
    return wrong(entry->line, quote(key) + " contains a zero byte");
  return entry->value.text;
}

Result<bool> Reader::flag(const Value& map, std::string_view key) const {
  const auto word = text(map, key);
  if (!word) return fail(word.error());
  if (word->empty() || *word == "false") return false;
  if (*word == "true") return true;
  return wrong(find(map, key)->line, quote(key) + " must be true or false");
}

Result<const Value*> Reader::named(const Value& file, const std::string& what,
                                   const std::string& name) const {
  const Entry* const list = find(file, what + "s");
  if (!list || list->value.kind != Value::Kind::list)
    return wrong(list ? list->line : 1, "a list " + quote(what + "s") + " is needed");
  for (const Value& item : list->value.items) {
    const auto its_name = text(item, "name");
    if (!its_name) return fail(its_name.error());
    if (*its_name != name) continue;
    const Entry* const entry = find(item, what);
    if (!entry || entry->value.kind != Value::Kind::map)
      return wrong(item.line, what + " " + quote(name) + " has no field " + quote(what));
    return &entry->value;
  }
  return wrong(list->line, "there is no " + what + " " + quote(name));
}

Result<std::string> Reader::pem(const Value& map, const std::string& key) const {
  auto data = text(map, key + "-data");
  if (!data) return data;
  if (!data->empty()) {
    auto decoded = decode_base64(*data);
    if (!decoded)
      return wrong(find(map, key + "-data")->line, quote(key + "-data") + " is not base64");
    return std::move(*decoded);
  }
  auto file = text(map, key);
  if (!file || file->empty()) return file;
  auto content = read_(absolute(*file));
  // An empty authority would mean that of the system.
  if (content && content->find_first_not_of(" \t\r\n") == std::string::npos)
    return wrong(find(map, key)->line, quote(absolute(*file)) + " is empty");
  return content;
}

Result<ServerAccess> Reader::read_context(const Value& file, std::string context) {
  if (file.kind != Value::Kind::map) return wrong(1, "it is not a kubeconfig: a map is needed");
  const auto kind = text(file, "kind");
  if (!kind) return fail(kind.error());
  if (!kind->empty() && *kind != "Config") return wrong(1, "its kind must be Config");
  if (context.empty()) {
    const auto current = text(file, "current-context");
    if (!current) return fail(current.error());
    context = *current;
    if (context.empty())
      return wrong(1, "\"current-context\" is missing; set it or name a context");
  }
  const auto chosen = named(file, "context", context);
  if (!chosen) return fail(chosen.error());
  ServerAccess access;
  const auto space = text(**chosen, "namespace");
  const auto cluster_name = text(**chosen, "cluster");
  const auto user_name = text(**chosen, "user");
  for (const auto* one : {&space, &cluster_name, &user_name})
    if (!*one) return fail(one->error());
  access.space = *space;
  const auto cluster = named(file, "cluster", *cluster_name);
  if (!cluster) return fail(cluster.error());
  if (const Status done = read_cluster(**cluster, access); !done) return fail(done.error());
  const auto user = named(file, "user", *user_name);
  if (!user) return fail(user.error());
  if (const Status done = read_user(**user, access); !done) return fail(done.error());
  return access;
}

Status Reader::read_cluster(const Value& cluster, ServerAccess& access) const {
  const auto insecure = flag(cluster, "insecure-skip-tls-verify");
  if (!insecure) return fail(insecure.error());
  if (*insecure)
    return wrong(find(cluster, "insecure-skip-tls-verify")->line,
                 "\"insecure-skip-tls-verify\" is not supported: any host between here and the "
                 "server could read the token; give the "
                 "server's authority as \"certificate-authority\", and \"tls-server-name\" if its "
                 "certificate has another name");
  auto server = text(cluster, "server");
  if (!server) return fail(server.error());
  if (server->empty()) return wrong(cluster.line, "the cluster has no \"server\"");
  if (!server->starts_with("https://") || server->size() == 8 || has_control(*server) ||
      server->find_first_of(" ?#@\\") != std::string::npos)
    return wrong(find(cluster, "server")->line,
                 "\"server\" must be https://HOST[:PORT]" + (server->find('@') == std::string::npos
                                                                 ? ", not " + quote(*server)
                                                                 : ", without a user or password"));
  while (server->ends_with('/')) server->pop_back();
  access.server = *server;
  const auto name = text(cluster, "tls-server-name");
  const auto proxy = text(cluster, "proxy-url");
  for (const auto* one : {&name, &proxy})
    if (!*one) return fail(one->error());
  access.tls_server_name = *name;
  if (name->find_first_of("/:?#@\\ ") != std::string::npos || has_control(*name))
    return wrong(find(cluster, "tls-server-name")->line,
                 "\"tls-server-name\" must be the name of a host");
  access.proxy_url = *proxy;
  const bool has_scheme = proxy->starts_with("http://") || proxy->starts_with("https://") ||
                          proxy->starts_with("socks5://");
  if (!proxy->empty() && (!has_scheme || has_control(*proxy)))
    return wrong(find(cluster, "proxy-url")->line,
                 "\"proxy-url\" must begin with http://, https:// or socks5://");
  auto authority = pem(cluster, "certificate-authority");
  if (!authority) return fail(authority.error());
  access.ca_pem = std::move(*authority);
  return {};
}

Status Reader::read_user(const Value& user, ServerAccess& access) const {
  for (const Unsupported& one : kUnsupportedOfUser)
    if (const Entry* const entry = find(user, one.key))
      return wrong(entry->line, quote(one.key) + " is not supported; " + one.instead);
  auto certificate = pem(user, "client-certificate");
  if (!certificate) return fail(certificate.error());
  auto key = pem(user, "client-key");
  if (!key) return fail(key.error());
  if (certificate->empty() != key->empty())
    return wrong(user.line,
                 "a client certificate needs both \"client-certificate\" and \"client-key\"");
  access.client_certificate_pem = std::move(*certificate);
  access.client_key_pem = std::move(*key);
  const auto token = text(user, "token");
  if (!token) return fail(token.error());
  const auto file = text(user, "tokenFile");
  if (!file) return fail(file.error());
  const Entry* const exec = find(user, "exec");
  if (exec && (!token->empty() || !file->empty()))
    return wrong(exec->line, "\"exec\" excludes \"token\" and \"tokenFile\"");
  if (exec) {
    auto plugin = read_exec(exec->value);
    if (!plugin) return fail(plugin.error());
    access.token = std::move(*plugin);
  } else if (!file->empty()) {
    access.token = TokenFile{absolute(*file)};  // it precedes `token`, as for other clients
  } else if (!token->empty()) {
    if (!is_token(*token))
      return wrong(find(user, "token")->line,
                   "\"token\" contains white space or control characters");
    access.token = Token{*token};
  }
  return {};
}

Result<ExecPlugin> Reader::read_exec(const Value& exec) const {
  ExecPlugin plugin;
  const auto version = text(exec, "apiVersion");
  const auto command = text(exec, "command");
  const auto hint = text(exec, "installHint");
  const auto mode = text(exec, "interactiveMode");
  for (const auto* one : {&version, &command, &hint, &mode})
    if (!*one) return fail(one->error());
  if (*version != "client.authentication.k8s.io/v1" &&
      *version != "client.authentication.k8s.io/v1beta1")
    return wrong(
        exec.line,
        "\"apiVersion\" of the exec plugin must be client.authentication.k8s.io/v1 or v1beta1");
  if (command->empty()) return wrong(exec.line, "the exec plugin has no \"command\"");
  if (*mode == "Always")
    return wrong(exec.line,
                 "an exec plugin with \"interactiveMode: Always\" is not supported: a daemon has "
                 "no terminal");
  const auto cluster_info = flag(exec, "provideClusterInfo");
  if (!cluster_info) return fail(cluster_info.error());
  plugin.api_version = *version;
  plugin.command = command->find('/') == std::string::npos ? *command : absolute(*command);
  plugin.install_hint = *hint;
  plugin.provide_cluster_info = *cluster_info;
  const Entry* const arguments = find(exec, "args");
  if (arguments && arguments->value.kind != Value::Kind::list)
    return wrong(arguments->line, "\"args\" of the exec plugin must be a list");
  if (arguments)
    for (const Value& argument : arguments->value.items) {
      if (argument.kind != Value::Kind::scalar || argument.text.find('\0') != std::string::npos)
        return wrong(argument.line, "an argument of the exec plugin must be a text");
      plugin.arguments.push_back(argument.text);
    }
  if (const Status done = read_environment(exec, plugin); !done) return fail(done.error());
  return plugin;
}

Status Reader::read_environment(const Value& exec, ExecPlugin& plugin) const {
  const Entry* const environment = find(exec, "env");
  if (!environment) return {};
  if (environment->value.kind != Value::Kind::list)
    return wrong(environment->line, "\"env\" of the exec plugin must be a list");
  for (const Value& variable : environment->value.items) {
    const auto name = text(variable, "name");
    if (!name) return fail(name.error());
    const auto value = text(variable, "value");
    if (!value) return fail(value.error());
    if (name->empty() || name->find('=') != std::string::npos)
      return wrong(variable.line, "a variable of the exec plugin needs a name without '='");
    plugin.environment.emplace_back(*name, *value);
  }
  return {};
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Result<ServerAccess> parse_kubeconfig(const std::string& text, const std::string& path,
                                      const std::string& context, const ReadFile& read) {
  const auto file = config::parse_yaml(text, path);
  if (!file) return fail(file.error());
  return Reader(path, read).read_context(*file, context);
}

Result<ServerAccess> in_cluster_access(const std::string& host, const std::string& port,
                                       const std::string& folder, const ReadFile& read) {
  if (host.empty() || port.empty())
    return fail(
        ErrorCode::failed_precondition,
        "this is not a pod of Kubernetes (KUBERNETES_SERVICE_HOST is not set); give a kubeconfig");
  ServerAccess access;
  access.server =
      "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  auto authority = read(folder + "/ca.crt");
  if (!authority) return fail(authority.error());
  if (authority->empty()) return fail(ErrorCode::failed_precondition, folder + "/ca.crt is empty");
  access.ca_pem = std::move(*authority);
  const auto space = read(folder + "/namespace");
  if (!space) return fail(space.error());
  access.space = space->substr(0, space->find_first_of("\r\n"));
  access.token = TokenFile{folder + "/token"};
  return access;
}

}  // namespace ares::kubernetes
