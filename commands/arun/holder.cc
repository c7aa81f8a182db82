#include "arun/holder.h"

#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>

#include "step_client/reach.h"
#include "steps/frame.h"

namespace ares::arun {
namespace {

using steps::Frame;
using steps::FrameKind;

constexpr auto kBetweenTries = std::chrono::milliseconds(200);

// What other processes of the job may want to be told of. The end of the job comes as SIGTERM.
void ignore_other_signals() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (signal != SIGTERM && signal != SIGCHLD && signal != SIGCONT) ::signal(signal, SIG_IGN);
}

// None: the connection was lost, as it is when the step host of the job is killed.
std::optional<Frame> wait_for_release(int host, bool held) {
  std::string request;
  append_frame(request, FrameKind::hold, held ? 0 : 1, {});
  if (::send(host, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return std::nullopt;
  steps::FrameReader reader;
  for (;;) {
    Result<std::optional<Frame>> frame = reader.next();
    if (!frame) return std::nullopt;
    if (*frame && (*frame)->kind == FrameKind::released) return std::move(**frame);
    if (*frame) continue;  // of a later release
    char bytes[4096];
    const ssize_t n = ::recv(host, bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    reader.add({bytes, static_cast<std::size_t>(n)});
  }
}

}  // namespace

Result<int> hold_allocation(const std::vector<std::string>& words) {
  const bool held = words.empty();
  if (words.size() > 1 || (!held && words[0] != "--unheld"))
    return fail(ErrorCode::invalid_argument, "usage: ares-allocation [--unheld], within a job");
  const char* const directory = std::getenv("ARES_ATTEMPT_DIR");
  if (!directory)
    return fail(ErrorCode::failed_precondition, "this is the batch script of aalloc(1)");
  ignore_other_signals();
  for (;;) {
    const Result<os::Fd> host = step_client::connect_within(directory);
    if (!host && host.error().code == ErrorCode::not_found) return fail(host.error());
    if (host)
      if (const std::optional<Frame> release = wait_for_release(host->get(), held)) {
        if (!release->payload.empty())
          std::fprintf(stderr, "ares-allocation: %s\n", release->payload.c_str());
        return static_cast<int>(release->number & 0xff);
      }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace ares::arun
