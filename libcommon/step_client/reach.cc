#include "step_client/reach.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>

#include "auth/shared_key.h"
#include "cli/values/job_ids.h"
#include "os/clock.h"
#include "os/sockets/local_socket.h"
#include "os/sockets/tcp.h"
#include "step_client/pending_call.h"
#include "step_client/wait_limit.h"
#include "steps/frame.h"
#include "steps/handshake.h"
#include "steps/socket_name.h"
#include "steps/ticket.h"

namespace ares::step_client {
namespace {

constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kBetweenTries = std::chrono::milliseconds(250);
constexpr std::size_t kNonceBytes = 16;

Status wait_readable(int socket, const WaitLimit& limit) {
  if (limit.wait(socket, POLLIN) == Waited::ready) return {};
  return fail(ErrorCode::unavailable, "the node daemon there does not answer");
}

Result<os::Fd> connect(const std::string& address, const WaitLimit& limit) {
  Result<os::Fd> socket = os::begin_tcp(address);
  if (!socket) return fail(ErrorCode::unavailable, socket.error().message);
  if (limit.wait(socket->get(), POLLOUT) != Waited::ready)
    return fail(ErrorCode::unavailable, "cannot connect to " + address + " in time");
  if (Status connected = os::take_connect_error(socket->get()); !connected)
    return fail(ErrorCode::unavailable, connected.error().message);
  return socket;
}

// A byte at a time, so that none of what follows the line is taken. The lines are short.
Result<std::string> read_line(int socket, const WaitLimit& limit) {
  std::string line;
  while (line.size() <= steps::kLongestLine) {
    if (Status ready = wait_readable(socket, limit); !ready) return fail(ready.error());
    char byte = 0;
    const ssize_t n = ::recv(socket, &byte, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return fail(ErrorCode::unavailable, "the node daemon there closed the connection");
    if (byte == '\n') return line;
    line += byte;
  }
  return fail(ErrorCode::invalid_argument, "the node daemon there gave no answer that is known");
}

Status send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd ready{socket, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (n < 0) return fail(os::errno_error("cannot write to the job"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

// The payload of the answer. failed_precondition: it is refused.
Result<std::string> ask(int host, const steps::Frame& request, steps::FrameKind answered,
                        const WaitLimit& limit) {
  std::string bytes_out;
  append_frame(bytes_out, request);
  if (Status sent = send_all(host, bytes_out); !sent) return fail(sent.error());
  steps::FrameReader reader;
  for (;;) {
    Result<std::optional<steps::Frame>> frame = reader.next();
    if (!frame) return fail(frame.error());
    if (*frame && (*frame)->kind == steps::FrameKind::refused)
      return fail(ErrorCode::failed_precondition, (*frame)->payload);
    if (*frame && (*frame)->kind == answered) return std::move((*frame)->payload);
    if (*frame) continue;  // of a later release
    if (Status ready = wait_readable(host, limit); !ready) return fail(ready.error());
    char bytes[4096];
    const ssize_t n = ::recv(host, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return fail(ErrorCode::unavailable, "the job has ended, or its steps cannot run");
    reader.add({bytes, static_cast<std::size_t>(n)});
  }
}

std::string name_of(std::string_view variable) {
  return std::string(variable.substr(0, variable.find('=')));
}

}  // namespace

Result<os::Fd> connect_within(const std::string& directory) {
  Result<os::Fd> socket = os::connect_in(directory, steps::kSocketName);
  if (!socket)
    return fail(socket.error().code,
                "cannot reach the job of this process: " + socket.error().message);
  return socket;
}

Result<api::StepTicket> ask_ticket(rpc::Client& client, const JobKey& job, int interrupt) {
  api::Request request;
  request.mutable_step_access()->mutable_job()->set_job(job.job.value());
  if (!job.task.is_none()) request.mutable_step_access()->mutable_job()->set_task(job.task.value);
  Result<api::Response> response =
      interrupt < 0 ? client.call(request)
                    : call_within(client, request, WaitLimit::of(kPatience, interrupt));
  if (!response) return fail(response.error());
  return std::move(*response->mutable_step_ticket());
}

Result<os::Fd> connect_with(const api::StepTicket& ticket, int interrupt) {
  const WaitLimit limit = WaitLimit::of(kPatience, interrupt);
  Result<os::Fd> socket = connect(ticket.address(), limit);
  if (!socket) return fail(socket.error());
  const Result<std::string> line = read_line(socket->get(), limit);
  if (!line) return fail(line.error());
  const Result<std::string> theirs = steps::read_greeting(*line);
  if (!theirs) return fail(theirs.error());
  steps::ClientCall call;
  call.ticket = {ticket.attempt(), Fence(ticket.fence()), UserId(ticket.uid()),
                 std::chrono::sys_seconds(Seconds(ticket.expires()))};
  call.nonce = auth::random_bytes(kNonceBytes);
  if (Status sent = send_all(socket->get(), steps::call_line(call, *theirs, ticket.key())); !sent)
    return fail(sent.error());
  const Result<std::string> answer = read_line(socket->get(), limit);
  if (!answer) return fail(answer.error());
  if (Status known = steps::read_answer(*answer, call, *theirs, ticket.key()); !known)
    return fail(known.error());
  return socket;
}

Result<os::Fd> reach(rpc::Client& client, const JobKey& job, int interrupt) {
  const BootTime until = os::boot_now() + kPatience;
  for (;;) {
    const Result<api::StepTicket> ticket = ask_ticket(client, job, interrupt);
    const bool late = os::boot_now() >= until;
    if (!ticket && (ticket.error().code != ErrorCode::unavailable || late))
      return fail(ticket.error());
    Result<os::Fd> socket = ticket ? connect_with(*ticket, interrupt) : fail(ticket.error());
    if (socket) return socket;
    if (socket.error().code != ErrorCode::unavailable || late)
      return fail(socket.error().code, "cannot reach job " + cli::format_job_id(job) + " at " +
                                           ticket->address() + ": " + socket.error().message);
    if (WaitLimit::of(kBetweenTries, interrupt).wait(-1, 0) == Waited::interrupted)
      return fail(ErrorCode::unavailable, "interrupted by a signal");
  }
}

Result<std::vector<std::string>> describe(int host, int interrupt) {
  const auto answer = ask(host, {steps::FrameKind::describe, 0, {}}, steps::FrameKind::described,
                          WaitLimit::of(kPatience, interrupt));
  if (!answer) return fail(answer.error());
  std::vector<std::string> variables;
  for (std::string_view rest = *answer; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    variables.emplace_back(one);
  }
  return variables;
}

Status limit_step(int host, std::uint32_t step, Seconds limit) {
  const auto answer = ask(host, {steps::FrameKind::limit, step, std::to_string(limit.count())},
                          steps::FrameKind::limited, WaitLimit::of(kPatience, -1));
  if (!answer && answer.error().code == ErrorCode::failed_precondition)
    return fail(answer.error().code,
                "the daemons of its node are of a release that cannot change limits of steps");
  if (!answer) return fail(answer.error());
  if (!answer->empty()) return fail(ErrorCode::failed_precondition, *answer);
  return {};
}

std::vector<std::string> merged(std::vector<std::string> variables,
                                const std::vector<std::string>& of_job) {
  // Of a job that this process runs in.
  std::set<std::string> names = {"ARES_ATTEMPT_DIR", "ARES_DEADLINE_FILE", "ARES_HOSTFILE",
                                 "ARESD_NODENAME", "SLURMD_NODENAME"};
  for (const std::string& variable : of_job) names.insert(name_of(variable));
  std::erase_if(variables, [&](const std::string& v) { return names.contains(name_of(v)); });
  variables.insert(variables.end(), of_job.begin(), of_job.end());
  return variables;
}

}  // namespace ares::step_client
