// StepChannels: starts aresstepd processes, reconnects to running ones, and carries packets between them and Supervisors. Owned
// by the baremetal backend, used on its only thread. Sends without blocking: a supervisor that does not read loses its channel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/baremetal/file_spool.h"
#include "node/supervisors.h"
#include "os/fd.h"

namespace ares::exec {

class StepChannels final : public node::StepTransport {
 public:
  // `stepd` is the path of aresstepd; `spool` must outlive this object.
  static Result<std::unique_ptr<StepChannels>> make(std::string stepd, const FileSpool& spool);

  Status spawn(const AttemptKey& key) override;
  void connect(const AttemptKey& key) override;
  void send(const AttemptKey& key, const node::StepCommand& command) override;
  void drop(const AttemptKey& key) override;
  void sweep(const AttemptKey& key) override;

  int event_fd() const { return poll_.get(); }
  void dispatch(node::Supervisors& supervisors, node::Moment now);

 private:
  // A supervisor process with an open channel, or a child that is still to be reaped.
  struct Channel {
    AttemptKey key;
    os::Fd socket;
    os::Fd process;      // pidfd
    bool child = false;  // we must reap it
    bool dropped = false;
  };
  struct Answer {
    AttemptKey key;
    bool opened = false;
  };

  StepChannels(std::string stepd, const FileSpool& spool)
      : stepd_(std::move(stepd)), spool_(spool) {}
  void add(Channel channel);
  Channel* find(const AttemptKey& key);
  void answer(const AttemptKey& key, bool opened);
  void watch(int fd, std::uint64_t tag);
  void read_notices(std::uint64_t id, node::Supervisors& supervisors, node::Moment now);
  void process_ended(std::uint64_t id, node::Supervisors& supervisors, node::Moment now);

  std::string stepd_;
  const FileSpool& spool_;
  os::Fd poll_;
  os::Fd wakeup_;  // readable while answers_ is not empty
  std::vector<Answer> answers_;
  std::map<std::uint64_t, Channel> channels_;
  std::uint64_t last_id_ = 0;
};

}  // namespace ares::exec
