#include "aresstepd/ready_supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "aresstepd/steps/host.h"
#include "aresstepd/supervisor.h"
#include "aresstepd/task_body.h"
#include "base/clip.h"
#include "os/namespace.h"
#include "os/sockets/passing.h"

namespace ares::stepd {
namespace {

// The server's descriptors would make a dead aresd or supervisor look alive. Standard error is aresd's:
// its reader may wait until all writers have ended, and the job goes on after aresd.
void leave_server(int kept) {
  ::setsid();
  os::close_all_but({kept});
  ::dup2(STDIN_FILENO, STDERR_FILENO);
}

int supervise(const node::LaunchRequest& request, os::Fd channel, os::Ipc ipc,
              std::unique_ptr<os::TaskTree> prepared) {
  const std::string log = request.directory + "/log";
  if (const os::Fd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
      file) {
    ::dup2(file.get(), STDOUT_FILENO);
    ::dup2(file.get(), STDERR_FILENO);
  }
  return supervise_attempt(request.directory, channel.release(), {.ipc = ipc}, std::move(prepared));
}

struct Assignment {
  node::LaunchRequest request;
  os::Fd channel;
};

// None if the server has closed the socket or sends what this program does not understand.
Result<Assignment> receive_assignment(const os::Fd& server) {
  Result<os::Passed> packet = os::receive_passed(server.get());
  if (!packet) return fail(packet.error());
  Result<node::LaunchRequest> request = node::decode_launch_request(packet->text);
  if (!request) return fail(request.error());
  return Assignment{std::move(*request), std::move(packet->fd)};
}

int run_ready(os::Fd server, const os::ReadyGroups& groups, os::Ipc ipc) {
  auto tree = std::make_unique<os::TaskTree>(
      run_attempt, os::TaskTree::Isolation{os::namespace_kind(), false, ipc},
      groups.plan(::getpid()));
  tree->set_beside(run_step_host);
  const Status prepared = tree->prepare();
  if (!prepared) tree.reset();
  if (!os::pass(server.get(), prepared ? kReady : std::string_view(clip(prepared.error().message))))
    return 0;
  for (;;) {
    pollfd sources[] = {{server.get(), POLLIN, 0}, {tree ? tree->control_fd() : -1, POLLIN, 0}};
    if (::poll(sources, std::size(sources), -1) < 0) continue;
    if (sources[1].revents != 0) tree.reset();  // its first process was killed
    if (sources[0].revents == 0) continue;
    Result<Assignment> assignment = receive_assignment(server);
    if (!assignment && assignment.error().code == ErrorCode::unavailable) continue;
    server.reset();  // the server learns that we have taken it
    if (!assignment) return 0;
    return supervise(assignment->request, std::move(assignment->channel), ipc, std::move(tree));
  }
}

}  // namespace

// By _exit(), because the objects of the server are not ours to destroy.
void wait_for_attempt(os::Fd server, const os::ReadyGroups& groups, os::Ipc ipc) {
  leave_server(server.get());
  ::_exit(run_ready(std::move(server), groups, ipc));
}

void supervise_now(const node::LaunchRequest& request, os::Fd channel, os::Ipc ipc) {
  leave_server(channel.get());
  ::_exit(supervise(request, std::move(channel), ipc, nullptr));
}

}  // namespace ares::stepd
