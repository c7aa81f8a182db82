#include "actl/here/daemons.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "actl/command.h"
#include "cli/output/text.h"
#include "os/fd.h"

namespace ares::actl {
namespace {

constexpr std::string_view kTcp = "tcp:";
constexpr std::string_view kAnyAddress[] = {"", "0.0.0.0", "::", "*"};

// "head" of "tcp:head:7100", "::1" of "tcp:[::1]:7100".
std::string host_of(std::string_view address) {
  address.remove_prefix(kTcp.size());
  address = address.substr(0, address.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  return std::string(address);
}

// Programs and nodes find the controller at the addresses of `connect`, or at the first of `listen`. A socket of
// a file system is that of a cluster on one machine, unless there are other addresses.
bool is_controller_here(const config::ControllerConfig& controller,
                        const std::function<bool(const std::string&)>& is_here) {
  std::vector<std::string> addresses = controller.connect;
  addresses.insert(addresses.end(), controller.listen.begin(), controller.listen.end());
  bool is_elsewhere = false;
  for (const std::string& address : addresses) {
    if (!address.starts_with(kTcp)) continue;
    const std::string host = host_of(address);
    if (std::find(std::begin(kAnyAddress), std::end(kAnyAddress), host) != std::end(kAnyAddress))
      continue;
    if (is_here(host)) return true;
    is_elsewhere = true;
  }
  return !is_elsewhere;
}

bool is_node_here(const config::Config& config, const std::string& name) {
  const auto joins = [&](const DynamicNodes& rule) {
    return std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end() ||
           (!rule.prefix.empty() && name.starts_with(rule.prefix));
  };
  return std::any_of(config.nodes.begin(), config.nodes.end(),
                     [&](const config::ConfiguredNode& node) { return node.name == name; }) ||
         std::any_of(config.policy.dynamic_nodes.begin(), config.policy.dynamic_nodes.end(), joins);
}

std::string without_domain(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// Only an address of this machine can be taken.
template <class Address>
bool can_take(int family, const Address& address) {
  const os::Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return socket &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool is_this_machine(const std::string& host, const std::string& own) {
  if (host == "localhost" || without_domain(host) == without_domain(own)) return true;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) return can_take(AF_INET, v4);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  return ::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1 && can_take(AF_INET6, v6);
}

}  // namespace

std::vector<std::string> daemons_of(const config::Config& config, const std::string& name,
                                    const std::function<bool(const std::string& host)>& is_here) {
  std::vector<std::string> daemons;
  if (is_controller_here(config.controller, is_here)) daemons.emplace_back("aresctld");
  if (is_node_here(config, name)) daemons.emplace_back("aresd");
  return daemons;
}

Result<int> show_daemons(Context& context, const Words& operands) {
  if (!operands.empty()) return invalid("show daemons takes no argument");
  const auto config = config::load(config::default_path(context.common.config));
  if (!config) return fail(config.error());
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string own = host;
  const auto daemons = daemons_of(*config, without_domain(own), [&](const std::string& other) {
    return is_this_machine(other, own);
  });
  std::printf("%s\n", cli::join(daemons, " ").c_str());
  return 0;
}

}  // namespace ares::actl
