// StepChannels: has supervisors started, reconnects to running ones, and carries packets between them and Supervisors. Owned
// by the baremetal backend, used on its only thread. Sends without blocking: a supervisor that does not read loses its channel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/baremetal/file_spool.h"
#include "exec/baremetal/remains.h"
#include "exec/baremetal/step_servers.h"
#include "node/supervisors.h"
#include "os/fd.h"

namespace ares::exec {

class StepChannels final : public node::StepTransport {
 public:
  struct Setup {
    std::string stepd;                       // path of aresstepd
    std::vector<std::string> stepd_options;  // before its other arguments
    bool namespaces;  // whether supervisors are to run jobs in pid namespaces
    NodeOfSpool node;
  };
  static Result<std::unique_ptr<StepChannels>> make(Setup setup,
                                                    const FileSpool& spool);  // outlives this

  Status spawn(const AttemptKey& key) override;
  void connect(const AttemptKey& key) override;
  void send(const AttemptKey& key, const node::StepCommand& command) override;
  void drop(const AttemptKey& key) override;
  node::Remains sweep(const AttemptKey& key) override;

  int event_fd() const { return poll_.get(); }
  std::optional<BootTime> next_deadline() const {  // when dispatch() is due
    return servers_ ? servers_->next_deadline() : std::nullopt;
  }
  void dispatch(node::Supervisors& supervisors, node::Moment now);

 private:
  // A supervisor process with an open channel, or a child that is still to be reaped.
  struct Channel {
    AttemptKey key;
    os::Fd socket;
    os::Fd process;               // pidfd
    bool child = false;           // we must reap it
    bool awaits_process = false;  // the server will tell it
    bool dropped = false;
  };
  struct Answer {
    AttemptKey key;
    bool opened = false;
  };

  StepChannels(Setup setup, const FileSpool& spool) : setup_(std::move(setup)), spool_(spool) {}
  void add(std::uint64_t id, Channel channel);
  Channel* find(const AttemptKey& key);
  void answer(const AttemptKey& key, bool opened);
  void watch(int fd, std::uint64_t tag);
  void read_notices(std::uint64_t id, node::Supervisors& supervisors, node::Moment now);
  void process_known(std::uint64_t id, os::Fd process, node::Supervisors& supervisors,
                     node::Moment now);
  void process_ended(std::uint64_t id, node::Supervisors& supervisors, node::Moment now);

  const Setup setup_;
  const FileSpool& spool_;
  os::Fd poll_;
  std::optional<StepServers> servers_;
  os::Fd wakeup_;  // readable while answers_ is not empty
  std::vector<Answer> answers_;
  std::map<std::uint64_t, Channel> channels_;
  std::uint64_t last_id_ = 0;
};

}  // namespace ares::exec
