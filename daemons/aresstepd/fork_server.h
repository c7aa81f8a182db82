// ForkServer: forks supervisors for aresd, some of them ahead of their attempts, so that a launch needs
// neither an exec nor a new namespace. Owned by main(); single-threaded, because it forks without exec.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "node/launch_packet.h"
#include "os/fd.h"
#include "os/namespace.h"
#include "os/ready_groups.h"

namespace ares::stepd {

class ForkServer {
 public:
  // `aresd` is a connected SOCK_SEQPACKET socket. `ipc`: of all attempts.
  ForkServer(os::Fd aresd, os::Ipc ipc) : aresd_(std::move(aresd)), ipc_(ipc) {}

  // Returns when aresd has closed its end. Supervisors with an attempt go on, the others end by
  // themselves. Does not return in the supervisors that it forks.
  Status run();

 private:
  struct Child {
    os::Fd socket;  // closed by the supervisor when it has taken its attempt
    bool ready = false;
    std::optional<BootTime> assigned_at;
  };

  bool open() const { return static_cast<bool>(aresd_); }
  std::size_t waiting() const;  // children without an attempt
  void wait_for_events();
  void serve_aresd();
  void launch(const node::LaunchRequest& request, os::Fd channel);
  pid_t hand_over(const node::LaunchRequest& request, const os::Fd& channel);
  Result<pid_t> fork_for(const node::LaunchRequest& request, os::Fd& channel);
  void answer(const node::LaunchAnswer& answer);
  void hear(pid_t pid, Child& child);
  void reap();
  void tidy();
  void adapt_number();
  void prepare_more();

  os::Fd aresd_;
  const os::Ipc ipc_;
  const os::ReadyGroups groups_;
  os::Fd ends_;  // signalfd of SIGCHLD
  std::map<pid_t, Child> children_;
  std::vector<pid_t> left_groups_;  // of children that were killed
  BootTime left_since_{};           // the last one
  std::size_t wanted_ = 0;          // waiting children
  bool none_was_ready_ = false;     // since the last change of `wanted_`
  BootTime changed_at_{}, fork_again_at_{};
  std::string complaint_;  // the last one, which is not repeated
};

}  // namespace ares::stepd
