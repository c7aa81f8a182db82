#include "aresd/script_messages.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "node/records.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/sockets/local_socket.h"
#include "steps/frame.h"
#include "steps/socket_name.h"

namespace ares::aresd {
namespace {

// The controller waits a little longer.
constexpr Duration kLongestAnswer = std::chrono::seconds(5);
constexpr std::size_t kMostWaiting = 64;

// What of the answer has come; none: more is needed.
Result<std::optional<Status>> read_answer(int host, steps::FrameReader& reader) {
  char bytes[4096];
  const ssize_t n = ::recv(host, bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (n <= 0) return fail(ErrorCode::unavailable, "its supervisor has closed the connection");
  reader.add({bytes, static_cast<std::size_t>(n)});
  Result<std::optional<steps::Frame>> frame = reader.next();
  if (!frame) return fail(frame.error());
  if (!*frame) return std::nullopt;
  if ((*frame)->kind != steps::FrameKind::notified)
    return fail(ErrorCode::failed_precondition,
                "its supervisor is of a release that knows no messages");
  if ((*frame)->payload.empty()) return std::optional<Status>(Status());
  return std::optional<Status>(fail(ErrorCode::failed_precondition, (*frame)->payload));
}

}  // namespace

Status tell_script(const std::string& directory, const std::string& line, int stop) {
  // If no host runs, the supervisor starts one.
  Result<os::Fd> host = os::connect_in(directory, steps::kSocketName, false);
  if (!host)
    return fail(ErrorCode::unavailable,
                "its supervisor cannot be reached: " + host.error().message);
  std::string bytes;
  steps::append_frame(bytes, steps::FrameKind::notify, 0, line);
  if (::send(host->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(bytes.size()))
    return fail(os::errno_error("its supervisor cannot be told"));
  steps::FrameReader reader;
  const BootTime until = os::boot_now() + kLongestAnswer;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - os::boot_now()).count();
    pollfd watched[] = {{host->get(), POLLIN, 0}, {stop, POLLIN, 0}};
    const int ready = left > 0 ? ::poll(watched, 2, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0)
      return fail(ErrorCode::unavailable,
                  "its supervisor does not answer; the message may be written later");
    if (watched[1].revents != 0) return fail(ErrorCode::unavailable, "aresd stops");
    const auto answer = read_answer(host->get(), reader);
    if (!answer) return fail(answer.error());
    if (*answer) return **answer;
  }
}

ScriptMessages::SpoolOf spools_of(const config::Config& config, const Plugin& plugin) {
  return [&config, &plugin](const std::string& node) -> Result<std::string> {
    if (config.node.exec == "kubernetes")
      return fail(ErrorCode::failed_precondition,
                  "it runs in a pod of Kubernetes, where only the script itself writes to its "
                  "standard error");
    if (plugin.in_memory)
      return fail(ErrorCode::failed_precondition, "its node is simulated, and it has no script");
    return config.node.spool_of(node);
  };
}

ScriptMessages::ScriptMessages(SpoolOf spool_of) : spool_of_(std::move(spool_of)) {}

ScriptMessages::~ScriptMessages() {
  stop();
}

void ScriptMessages::put(Message message) {
  {
    const Lock lock(mutex_);
    // The controller tells the sender of one that is dropped that the node has not answered.
    if (stopping_ || waiting_.size() >= kMostWaiting) return;
    waiting_.push_back(std::move(message));
  }
  wake_.notify_one();
}

Status ScriptMessages::start(Answer answer) {
  answer_ = std::move(answer);
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return fail(os::errno_error("cannot make an event"));
  thread_ = std::thread([this] { run(); });
  return {};
}

void ScriptMessages::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;
  (void)::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void ScriptMessages::run() {
  for (;;) {
    Message message;
    {
      Lock lock(mutex_);
      wake_.wait(lock, [&]() ARES_REQUIRES(mutex_) { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      message = std::move(waiting_.front());
      waiting_.pop_front();
    }
    const Result<std::string> spool = spool_of_(message.node);
    const Status told = spool
                            ? tell_script(*spool + "/jobs/" + node::directory_name(message.attempt),
                                          message.line, stop_.get())
                            : fail(spool.error());
    answer_(message, told);
  }
}

}  // namespace ares::aresd
