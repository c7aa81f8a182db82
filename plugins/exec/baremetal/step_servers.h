// StepServers: the fork server of aresstepd that this aresd has started, and those that it has replaced,
// until these have answered. Owned by StepChannels, used on its only thread. Never waits for a server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/fd.h"

namespace ares::exec {

class StepServers {
 public:
  // Starts the server, with these options before its other arguments. If that fails it is tried again
  // later.
  StepServers(std::string stepd, std::vector<std::string> options);
  ~StepServers();  // ends the servers; supervisors with an attempt go on
  StepServers(const StepServers&) = delete;
  StepServers& operator=(const StepServers&) = delete;

  // Asks the server for a supervisor of the attempt with this directory and this end of its channel.
  // An error: no server took the request, so the supervisor has to be started in another way.
  // `number` is repeated in exactly one answer.
  Status launch(std::uint64_t number, const std::string& directory, int channel);

  struct Answer {
    std::uint64_t number = 0;
    // pidfd of the supervisor; invalid if the server has died or refused. Then the end of the channel
    // says that no supervisor has the attempt.
    os::Fd process;
  };
  std::vector<Answer>
  collect();  // to be called when event_fd() is readable or the deadline is over
  int event_fd() const { return poll_.get(); }
  std::optional<BootTime> next_deadline() const;

 private:
  // Of the program's file, to notice that it was replaced.
  struct Identity {
    std::uint64_t device = 0, inode = 0;
    std::int64_t changed = 0, size = 0;
    bool operator==(const Identity&) const = default;
  };
  struct Request {
    std::uint64_t number = 0;
    BootTime sent{};
  };
  struct Server {
    os::Fd socket;   // invalid: it answers no more
    os::Fd process;  // pidfd
    Identity program;
    std::deque<Request> requests;  // without an answer
    bool replaced = false;
    bool killed = false;
  };

  static std::optional<Identity> identify(const std::string& program);
  Server* current();
  Status start();
  void start_later();
  void replace(Server& server);
  void read_answers(Server& server, std::vector<Answer>& answers);
  void lose(Server& server, std::vector<Answer>& answers);
  void watch(int fd);

  const std::string stepd_;
  const std::vector<std::string> options_;
  os::Fd poll_;
  std::list<Server> servers_;
  std::optional<BootTime> start_at_;  // none while a server runs
  Duration pause_;
};

}  // namespace ares::exec
