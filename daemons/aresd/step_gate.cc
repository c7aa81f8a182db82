#include "aresd/step_gate.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "auth/shared_key.h"
#include "node/records.h"
#include "node/step_spec.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/sockets/local_socket.h"
#include "os/sockets/passing.h"
#include "steps/handshake.h"
#include "steps/socket_name.h"
#include "steps/ticket.h"

namespace ares::aresd {
namespace {

constexpr std::size_t kMostPending = 256;  // that have not shown yet that they may come in
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr std::size_t kNonceBytes = 16;

Result<std::string> read_record(const std::string& directory, node::Record record) {
  return os::read_file(directory + "/" + std::string(node::file_name(record)));
}

struct RunningAttempt {
  std::string directory;
  std::string key;
};

// The attempt of that name, if it runs here and `proves` says that the caller knows its key. `rank` is that
// of the node within the job: several nodes of a job may be served here.
Result<RunningAttempt> find_attempt(const std::vector<std::string>& spools,
                                    const std::string& attempt, Fence fence, std::uint32_t rank,
                                    const std::function<Status(const std::string& key)>& proves) {
  // A caller that has not proven what it says learns nothing about other jobs.
  const auto refuse = [] {
    return fail(ErrorCode::permission_denied, "no attempt of that key runs on this node");
  };
  if (!node::parse_directory_name(attempt)) return refuse();
  for (const std::string& spool : spools) {
    const std::string directory = spool + "/jobs/" + attempt;
    const Result<std::string> text = read_record(directory, node::Record::spec);
    if (!text) continue;
    const Result<node::StepSpec> spec = node::decode_step_spec(*text);
    if (!spec || spec->launch.rank != rank) continue;
    if (spec->launch.fence != fence) return refuse();
    const Status proven = proves(spec->launch.step_key);
    if (!proven && proven.error().code == ErrorCode::stale) return fail(proven.error());
    if (!proven) return refuse();
    if (read_record(directory, node::Record::exit))
      return fail(ErrorCode::failed_precondition, "the attempt has ended on this node");
    return RunningAttempt{directory, spec->launch.step_key};
  }
  return refuse();
}

// A caller whose machine has died is noticed within a minute.
void watch_the_peer(int socket) {
  constexpr int kYes = 1, kIdle = 20, kInterval = 10, kCount = 3;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &kYes, sizeof kYes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdle, sizeof kIdle);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kInterval, sizeof kInterval);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kCount, sizeof kCount);
}

// Where the port of the last time is kept.
std::string port_file(const std::string& spool) {
  return spool + "/step_port";
}

std::uint16_t last_port(const std::string& spool) {
  const Result<std::string> text = os::read_file(port_file(spool));
  std::uint16_t port = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), port);
  return port;
}

struct Bound {
  os::Fd listener;
  std::uint16_t port = 0;
};

// IPv6 and IPv4 where the machine has both.
Result<Bound> bind_to(std::uint16_t port) {
  const auto cannot = [&] {
    return fail(
        os::errno_error("cannot take steps of other nodes on port " + std::to_string(port)));
  };
  Bound made;
  made.listener.reset(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool v6 = static_cast<bool>(made.listener);
  if (!v6) made.listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.listener) return cannot();
  const int fd = made.listener.get();
  const int yes = 1, no = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  if (v6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  const auto* address =
      v6 ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  if (::bind(fd, address, v6 ? sizeof six : sizeof four) != 0 || ::listen(fd, SOMAXCONN) != 0)
    return cannot();
  sockaddr_in6 bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return cannot();
  made.port = ntohs(bound.sin6_port);  // at the same place in both kinds of address
  return made;
}

}  // namespace

StepGate::StepGate(os::Fd listener, os::Fd stop, std::uint16_t port,
                   std::vector<std::string> spools, Log log)
    : listener_(std::move(listener)),
      stop_(std::move(stop)),
      port_(port),
      spools_(std::move(spools)),
      log_(std::move(log)),
      thread_([this] { run(); }) {}

StepGate::~StepGate() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Result<std::unique_ptr<StepGate>> StepGate::open(std::uint16_t port,
                                                 std::vector<std::string> spools, Log log) {
  if (Status made = os::make_directories(spools.front(), 0755); !made) return fail(made.error());
  const std::uint16_t last = port == 0 ? last_port(spools.front()) : 0;
  Result<Bound> bound = bind_to(port != 0 ? port : last);
  if (!bound && last != 0) bound = bind_to(0);
  if (!bound) return fail(bound.error());
  if (port == 0 && bound->port != last)
    if (Status kept =
            os::publish_file(port_file(spools.front()), std::to_string(bound->port), 0600);
        !kept)
      log("the port for steps is another one after a restart: " + kept.error().message, true);
  os::Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return fail(os::errno_error("cannot make an event descriptor"));
  return std::unique_ptr<StepGate>(new StepGate(std::move(bound->listener), std::move(stop),
                                                bound->port, std::move(spools), std::move(log)));
}

void StepGate::run() {
  for (;;) {
    std::vector<pollfd> ready{{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const PendingAuth& caller : pending_) ready.push_back({caller.socket.get(), POLLIN, 0});
    if (::poll(ready.data(), ready.size(), pending_.empty() ? -1 : 1000) < 0) continue;
    if (ready[0].revents != 0) return;
    std::vector<PendingAuth> kept;
    const BootTime now = os::boot_now();
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      PendingAuth& caller = pending_[i];
      const bool stays = ready[i + 2].revents != 0 ? read_line(caller) : now < caller.until;
      if (stays) kept.push_back(std::move(caller));
    }
    pending_ = std::move(kept);
    if (ready[1].revents != 0) greet_one();
  }
}

void StepGate::greet_one() {
  os::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  PendingAuth caller{
      std::move(socket), auth::random_bytes(kNonceBytes), {}, os::boot_now() + kPatience};
  // Callers that say nothing do not keep out those that do.
  if (pending_.size() >= kMostPending) pending_.erase(pending_.begin());
  const std::string line = steps::greeting(caller.nonce);
  if (::send(caller.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
      static_cast<ssize_t>(line.size()))
    pending_.push_back(std::move(caller));
}

bool StepGate::read_line(PendingAuth& caller) {
  char bytes[steps::kLongestLine];
  const ssize_t n = ::recv(caller.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  caller.line.append(bytes, static_cast<std::size_t>(n));
  if (caller.line.back() != '\n') return caller.line.size() < steps::kLongestLine;
  caller.line.pop_back();
  if (const Status handed = hand_over(caller); !handed) {
    const std::string line = steps::refusal_line(handed.error());
    (void)::send(caller.socket.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    log_(handed.error().message, true);
  }
  return false;
}

Status StepGate::hand_over(PendingAuth& caller) {
  if (steps::is_client_call(caller.line)) return hand_over_client(caller);
  const Result<steps::Dial> dial = steps::read_dial(caller.line);
  if (!dial) return fail(dial.error());
  const Result<RunningAttempt> attempt = find_attempt(
      spools_, dial->attempt, dial->fence, dial->to,
      [&](const std::string& key) { return steps::verify_dial(*dial, caller.nonce, key); });
  if (!attempt) return fail(attempt.error());
  return pass_on(caller, attempt->directory, steps::answer_line(*dial, caller.nonce, attempt->key));
}

// A program outside of the job, which the controller has let in. It talks to the step host of the first
// node as arun does within the job.
Status StepGate::hand_over_client(PendingAuth& caller) {
  const Result<steps::ClientCall> call = steps::read_call(caller.line);
  if (!call) return fail(call.error());
  constexpr std::uint32_t kFirstNode = 0;
  const Result<RunningAttempt> attempt = find_attempt(
      spools_, call->ticket.attempt, call->ticket.fence, kFirstNode, [&](const std::string& key) {
        return steps::verify_call(*call, caller.nonce, key, os::wall_now());
      });
  if (!attempt) return fail(attempt.error());
  watch_the_peer(caller.socket.get());
  Status passed =
      pass_on(caller, attempt->directory, steps::answer_line(*call, caller.nonce, attempt->key));
  if (passed)
    log_("user " + std::to_string(call->ticket.caller.value()) + " reaches the steps of attempt " +
             call->ticket.attempt,
         false);
  return passed;
}

Status StepGate::pass_on(PendingAuth& caller, const std::string& directory,
                         const std::string& answer) {
  // The supervisor starts a step host when it may; until then the connection waits.
  Result<os::Fd> host = os::connect_in(directory, steps::kSocketName, false);
  if (!host) return fail(ErrorCode::unavailable, host.error().message);
  if (::send(caller.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(answer.size()))
    return fail(os::errno_error("cannot answer who asks for steps"));
  return os::pass(host->get(), steps::kHandedOver, caller.socket.get());
}

}  // namespace ares::aresd
