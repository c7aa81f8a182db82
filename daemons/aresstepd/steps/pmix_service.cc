#include "aresstepd/steps/pmix_service.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "os/namespace.h"
#include "pmi/pmix_check.h"

namespace ares::stepd {
namespace {

constexpr std::size_t kRead = std::size_t{1} << 16;

[[noreturn]] void execute(const std::string& program, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::fcntl(socket, F_SETFD, 0);
  ::execl(program.c_str(), program.c_str(), std::to_string(socket).c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

void remove_variables(std::vector<std::string>& environment) {
  std::erase_if(environment, [](const std::string& variable) {
    return variable.starts_with("PMI_") || variable.starts_with("PMIX_");
  });
}

PmixService::PmixService(os::Fd socket, pmi::TaskMap map, Reactor& reactor, Send send, Ready ready)
    : socket_(std::move(socket)),
      reactor_(reactor),
      send_(std::move(send)),
      ready_(std::move(ready)),
      map_(std::move(map)) {
  reactor_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t events) { socket_ready(events); });
}

PmixService::~PmixService() {
  if (socket_) reactor_.forget(socket_.get());
}

Result<std::unique_ptr<PmixService>> PmixService::make(const std::string& program,
                                                       pmi::PmixSetup setup, Reactor& reactor,
                                                       Send send, Ready ready) {
  if (::access(program.c_str(), X_OK) != 0) return fail(os::errno_error("cannot use " + program));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(os::errno_error("cannot make a socket pair"));
  os::Fd ours(pair[0]), theirs(pair[1]);
  const pid_t pid = os::fork_with(0);
  if (pid < 0) return fail(os::errno_error("cannot fork arespmixd"));
  if (pid == 0) execute(program, theirs.get());
  ::fcntl(ours.get(), F_SETFL, ::fcntl(ours.get(), F_GETFL) | O_NONBLOCK);
  std::unique_ptr<PmixService> service(
      new PmixService(std::move(ours), setup.map, reactor, std::move(send), std::move(ready)));
  service->tell(std::move(setup));
  return service;
}

Result<os::Fd> PmixService::connect(std::uint32_t) {
  return os::Fd();
}

void PmixService::describe(std::uint32_t local, int, std::vector<std::string>& environment) const {
  remove_variables(environment);
  for (const auto& [name, value] : variables_[local]) environment.push_back(name + "=" + value);
}

void PmixService::socket_ready(std::uint32_t events) {
  if (!socket_) return;
  if (events & EPOLLOUT) write_waiting();
  if (!socket_ || !(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  char bytes[kRead];
  const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return lose("arespmixd has ended");
  frames_.add({bytes, static_cast<std::size_t>(n)});
  while (socket_) {
    Result<std::optional<std::string>> body = frames_.next();
    if (!body) return lose(body.error().message);
    if (!*body) return;
    hear(**body);
  }
}

void PmixService::lose(const std::string& why) {
  reactor_.forget(socket_.get());
  socket_.reset();
  if (!settled_) return settle(fail(ErrorCode::unavailable, why));
  send_(steps::FrameKind::abort, 1, why);
}

void PmixService::settle(Status status) {
  if (std::exchange(settled_, true)) return;
  ready_(std::move(status));
}

void PmixService::tell(const pmi::PmixCommand& command) {
  if (!socket_) return;
  waiting_ += pmi::frame(command);
  write_waiting();
}

void PmixService::write_waiting() {
  while (!waiting_.empty()) {
    const ssize_t n =
        ::send(socket_.get(), waiting_.data(), waiting_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) waiting_.clear();  // its end is noticed when it is read
    if (n > 0) waiting_.erase(0, static_cast<std::size_t>(n));
  }
  reactor_.change(socket_.get(), waiting_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void PmixService::hear(const std::string& body) {
  const Result<pmi::PmixEvent> event = pmi::read_event(body);
  if (!event) return lose(event.error().message);
  // arespmixd runs as the user.
  if (Status sound = pmi::check(*event, map_); !sound) return lose(sound.error().message);
  std::visit([this](const auto& e) { handle(e); }, *event);
}

void PmixService::handle(const pmi::PmixReady& event) {
  variables_ = event.of_local_ranks;
  settle({});
}

void PmixService::handle(const pmi::PmixFailed& event) {
  settle(fail(ErrorCode::failed_precondition, event.message));
}

void PmixService::handle(const pmi::PmixFence& event) {
  fences_[event.name] = event.id;
  send_(steps::FrameKind::contribute, 0,
        encode(steps::Contribution{event.name, event.nodes, event.data}));
}

void PmixService::gathered(const steps::Gathered& exchange) {
  const auto fence = fences_.find(exchange.name);
  if (fence == fences_.end()) return;
  std::string data;
  for (const std::string& part : exchange.parts) data += part;
  tell(pmi::PmixFenceResult{fence->second, std::move(data)});
  fences_.erase(fence);
}

void PmixService::handle(const pmi::PmixModexRequest& event) {
  send_(steps::FrameKind::question, 0, encode(steps::Question{event.id, 0, event.rank}));
}

void PmixService::asked(const steps::Question& question) {
  const std::uint64_t id = next_question_++;
  questions_[id] = question;
  tell(pmi::PmixModexAsk{id, question.rank});
}

void PmixService::handle(const pmi::PmixModexData& event) {
  const auto question = questions_.find(event.id);
  if (question == questions_.end()) return;
  send_(steps::FrameKind::answer, 0,
        encode(steps::Answer{question->second.id, question->second.from, event.data.has_value(),
                             event.data.value_or("")}));
  questions_.erase(question);
}

void PmixService::answered(const steps::Answer& answer) {
  tell(pmi::PmixModexResult{answer.id, answer.found ? std::optional(answer.data) : std::nullopt});
}

void PmixService::handle(const pmi::PmixAbort& event) {
  send_(steps::FrameKind::abort, static_cast<std::uint32_t>(event.exit_code),
        "task " + std::to_string(event.rank) + ": " + event.message);
}

void PmixService::task_ended(std::uint32_t rank) {
  tell(pmi::PmixRankEnded{rank});
}

}  // namespace ares::stepd
