#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>

#include "base/printable.h"
#include "config/config.h"
#include "config/read.h"
#include "config/tables.h"

namespace ares::config {
namespace {

constexpr std::string_view kDefaultPath = "/etc/ares/ares.yaml";

// Blanks every top-level section that is not needed, keeping line numbers, because parsing
// YAML would take longer than the rest of the command. A file whose top level is not plain block
// style is returned unchanged.
std::string part_of(const std::string& text, std::span<const std::string_view> needed_sections) {
  std::string out;
  bool keep = true;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line(text.data() + from, end - from);
    const bool top = !line.empty() && line[0] != ' ' && line[0] != '#' && line[0] != '-' &&
                     line[0] != '\r' && line[0] != ']' && line[0] != '}';
    if (top && (line[0] == '{' || line[0] == '"' || line[0] == '\'' || line[0] == '\t'))
      return text;
    if (top) {
      keep = false;
      for (const std::string_view needed : needed_sections) keep = keep || line.starts_with(needed);
    }
    if (keep) out += line;
    out += '\n';
    from = end + 1;
  }
  // An alias may refer to a blanked section.
  return out.find('*') == std::string::npos ? out : text;
}

tl::unexpected<Error> located(const std::string& path, const Problem& problem) {
  return fail(ErrorCode::invalid_argument,
              path + ":" + std::to_string(problem.line) + ": " + problem.message);
}

}  // namespace

std::string default_path(std::string_view flag) {
  if (!flag.empty()) return std::string(flag);
  const char* environment = std::getenv("ARES_CONF");
  return environment && *environment ? environment : std::string(kDefaultPath);
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::permission_denied,
                "cannot read " + path + ": " + std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad() || text.fail())
    return fail(ErrorCode::invalid_argument, "cannot read " + path + ": it is empty or no file");
  return text.str();
}

Result<std::string> read_main_file(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (text) return text;
  return fail(text.error().code, "no configuration: " + text.error().message +
                                     "; name the file with --config or ARES_CONF");
}

std::optional<UserId> numeric_user(std::string_view text) {
  std::uint32_t uid = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), uid);
  if (error != std::errc{} || rest != text.data() + text.size() || uid == 0xffff'ffff)
    return std::nullopt;
  return UserId(uid);
}

std::optional<UserId> local_user(const std::string& name) {
  if (const auto uid = numeric_user(name)) return uid;
  if (name == "root") return UserId(0);
  std::ifstream in("/etc/passwd");
  std::string line;
  while (std::getline(in, line)) {
    // name:password:uid:...
    if (!line.starts_with(name + ":")) continue;
    const std::size_t second = line.find(':', name.size() + 1);
    if (second == std::string::npos) continue;
    const std::size_t third = std::min(line.find(':', second + 1), line.size());
    return numeric_user(std::string_view(line).substr(second + 1, third - second - 1));
  }
  return std::nullopt;
}

std::vector<std::string> connect_addresses(const ControllerConfig& controller) {
  if (!controller.connect.empty() || controller.listen.empty()) return controller.connect;
  return {controller.listen.front()};
}

Result<ClientConfig> read_client(const std::string& text, const std::string& path) {
  static constexpr std::string_view kNeeded[] = {"cluster:", "cluster_id:", "controller:", "auth:"};
  Result<Value> root = parse_yaml(part_of(text, kNeeded), path);
  if (!root) return fail(root.error());
  Config config;
  for (const Entry& entry : root->entries) {
    CheckResult done;
    if (entry.key == "controller") {
      static const std::vector<std::string> kWanted = {"listen", "connect", "user"};
      done = read_map(entry.value, config, controller_fields(), kWanted);
    } else if (entry.key == "auth") {
      done = read_map(entry.value, config.auth, auth_fields());
    } else if (entry.key == "cluster") {
      done = cluster_fields().front().read(config, entry.value);
    }
    if (!done) return located(path, done.error());
  }
  ClientConfig client;
  client.path = path;
  client.cluster = config.policy.cluster_name;
  client.connect = connect_addresses(config.controller);
  client.munge_socket = config.auth.munge_socket;
  if (client.connect.empty())
    return fail(ErrorCode::invalid_argument,
                path + ": controller: neither \"connect\" nor \"listen\" has an address");
  const auto uid = local_user(config.controller.user);
  if (!uid)
    return fail(ErrorCode::invalid_argument, path + ": controller: user " +
                                                 quote(config.controller.user) +
                                                 " is not in /etc/passwd; write the uid instead");
  client.controller_uid = *uid;
  return client;
}

Result<ClientConfig> load_client(const std::string& path) {
  return read_main_file(path).and_then(
      [&](const std::string& text) { return read_client(text, path); });
}

Result<CheckpointConfig> read_checkpoint(const std::string& text, const std::string& path) {
  static constexpr std::string_view kNeeded[] = {"checkpoint:"};
  Result<Value> root = parse_yaml(part_of(text, kNeeded), path);
  if (!root) return fail(root.error());
  CheckpointConfig config;
  for (const Entry& entry : root->entries)
    if (entry.key == "checkpoint")
      if (CheckResult done = read_map(entry.value, config, checkpoint_fields()); !done)
        return located(path, done.error());
  return config;
}

Result<CheckpointConfig> load_checkpoint(const std::string& path) {
  return read_main_file(path).and_then(
      [&](const std::string& text) { return read_checkpoint(text, path); });
}

}  // namespace ares::config
