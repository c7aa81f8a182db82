// `doctor`: asks munge, the controller's addresses and the controller, and prints what is wrong.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "actl/assign.h"
#include "actl/doctor.h"
#include "auth/munge.h"
#include "config/config.h"
#include "rpc/wire/address.h"

namespace ares::actl {
namespace {

constexpr int kConnectMilliseconds = 3000;

Status try_munge(const std::string& socket) {
  const std::string payload = "actl doctor";
  const auto credential = auth::munge_encode(payload, socket);
  if (!credential) return fail(credential.error());
  const auto decoded = auth::munge_decode(*credential, socket);
  if (!decoded) return fail(decoded.error());
  if (decoded->payload != payload || decoded->uid.value() != ::geteuid())
    return fail(ErrorCode::internal, "munge returned another credential than it was given");
  return {};
}

Status try_socket(int family, const sockaddr* address, socklen_t length) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail(ErrorCode::unavailable, std::strerror(errno));
  int error = ::connect(fd, address, length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (::poll(&waiting, 1, kConnectMilliseconds) <= 0)
      error = ETIMEDOUT;
    else
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  ::close(fd);
  return error == 0 ? Status{} : fail(ErrorCode::unavailable, std::strerror(error));
}

Status try_address(const std::string& text) {
  const auto address = rpc::parse_address(text);
  if (!address) return fail(address.error());
  if (address->kind == rpc::Address::Kind::unix_socket) {
    sockaddr_un there{};
    there.sun_family = AF_UNIX;
    rpc::call_socket(*address).copy(there.sun_path, sizeof there.sun_path - 1);
    return try_socket(AF_UNIX, reinterpret_cast<const sockaddr*>(&there), sizeof there);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(address->host.c_str(), std::to_string(address->port).c_str(), &hints, &found);
  if (code != 0)
    return fail(ErrorCode::unavailable,
                "the name " + address->host + " is not known here: " + ::gai_strerror(code));
  Status last = fail(ErrorCode::unavailable, "no address");
  for (const addrinfo* one = found; one && !last; one = one->ai_next)
    last = try_socket(one->ai_family, one->ai_addr, one->ai_addrlen);
  ::freeaddrinfo(found);
  return last;
}

Result<api::Nodes> ask_for_nodes(Context& context) {
  api::Request request;
  request.mutable_list_nodes();
  auto nodes = context.call_for_all(request, cli::RetryPolicy::none);
  if (!nodes) return fail(nodes.error());
  return nodes->nodes();
}

std::optional<std::string> ask_for_config(Context& context) {
  api::Request request;
  request.mutable_show_config();
  const auto answer = context.call(request, cli::RetryPolicy::none);
  return answer ? std::optional(answer->config().yaml()) : std::nullopt;
}

void examine_cluster(Context& context, const api::Response& pong, std::vector<Finding>& found) {
  for (Finding& one : judge_database(pong.pong(), ask_for_config(context)))
    found.push_back(std::move(one));
  const auto nodes = ask_for_nodes(context);
  if (!nodes) {
    found.push_back({Health::failed, "nodes", nodes.error().message, "see the log of aresctld"});
    return;
  }
  for (Finding& one : judge_versions(ARES_VERSION, pong.server_version(), *nodes))
    found.push_back(std::move(one));
  for (Finding& one : judge_nodes(*nodes)) found.push_back(std::move(one));
}

}  // namespace

Result<int> examine(Context& context, const Words& operands) {
  if (!operands.empty()) return invalid("doctor takes no argument");
  const auto config = config::load_client(config::default_path(context.common.config));
  if (!config) return fail(config.error());
  const bool by_tcp = std::any_of(config->connect.begin(), config->connect.end(),
                                  [](const std::string& one) { return one.starts_with("tcp:"); });
  std::vector<Finding> found = {judge_munge(try_munge(config->munge_socket), by_tcp)};

  api::Request ping;
  ping.mutable_ping();
  const Time asked = cli::clock_now();
  const Result<api::Response> pong = context.call(ping, cli::RetryPolicy::none);
  const Time told = cli::clock_now();
  for (const std::string& address : config->connect)
    found.push_back(judge_address(address, try_address(address), pong.has_value()));
  found.push_back(judge_controller(pong));
  if (pong) {
    found.push_back(judge_clocks(pong->pong(), asked, told));
    examine_cluster(context, *pong, found);
  }
  std::fputs(doctor_text(found, context.flags.quiet).c_str(), stdout);
  return failures(found) == 0 ? 0 : 1;
}

}  // namespace ares::actl
