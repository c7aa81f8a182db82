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
#include "checkpoint/commit_exchange.h"
#include "model/engine/node_message.h"
#include "os/fd.h"

namespace ares::stepd {

class CheckpointService {
 public:
  struct Hooks {
    std::function<void(int fd, bool on)> watch;  // tell serve() when it is readable
    std::function<void()> changed;               // the record `checkpoints` is another one
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

 private:
  struct Client {
    os::Fd socket;
    std::string input;
    std::set<std::uint64_t> given;             // numbers that were not used yet
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
  std::vector<Checkpoint> pending_;       // published, ascending
  std::vector<std::uint64_t> committed_;  // newest first, as many as are kept
};

}  // namespace ares::stepd
