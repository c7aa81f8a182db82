// Serves `acheckpoint commit` of a job on its first node: gives numbers to checkpoints, records what was published for
// aresd to report, and passes on that the controller has committed it. Owned by the supervisor; on its only thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "checkpoint/commit_exchange.h"
#include "model/engine/node_message.h"
#include "os/fd.h"

namespace ares::stepd {

class CheckpointService {
 public:
  struct Hooks {
    std::function<void(int fd, bool on)> watch;  // tell serve() when it is readable
    std::function<void()> changed;               // aresd has to read the record `checkpoints`
  };
  // `directory` is the attempt's.
  CheckpointService(const LaunchSpec& launch, std::string directory, Hooks hooks);

  // Makes the socket, to which only the job's user can connect. Nothing is accepted before start().
  Status listen();
  void start();

  // False: the descriptor is not one of its own.
  bool serve(int fd);

  // The controller has committed the attempt's checkpoints up to this one.
  void known(std::uint64_t sequence);

  // When tick() is due, and what is to be told then: a job may commit more often than the journal of the
  // controller should grow.
  std::optional<BootTime> next_deadline() const { return tell_at_; }
  void tick(BootTime now);

 private:
  struct Client {
    os::Fd socket;
    std::string input;
    std::set<std::uint64_t> given;             // numbers of what is not recorded yet
    std::optional<std::uint64_t> waits_for{};  // published, and not known to be committed
  };

  void accept();
  bool read(Client& client);  // false: it is to be dropped
  void handle(Client& client, const checkpoint::BeginRequest& request);
  void handle(Client& client, const checkpoint::CommitRequest& request);
  void answer(Client& client, const checkpoint::Answer& answer);
  Status record(const std::vector<Checkpoint>& pending) const;

  const LaunchSpec& launch_;
  std::string directory_;
  Hooks hooks_;
  os::Fd listener_;
  std::vector<Client> clients_;
  std::uint64_t next_ = 1;
  std::uint64_t oldest_needed() const;

  std::vector<Checkpoint> pending_;       // published, ascending
  std::optional<BootTime> told_at_;       // when aresd was told of one last
  std::optional<BootTime> tell_at_;       // when it is told of what is recorded now
  std::vector<std::uint64_t> committed_;  // newest first, as many as are kept
};

}  // namespace ares::stepd
