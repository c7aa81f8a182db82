// AllocationHold: how long an interactive allocation lasts. Its command (aalloc, arun) holds it by a
// connection; its batch script (ares-allocation) waits until the command releases it, or has had no connection
// for too long. Owned by the step host on the job's first node; no clock, no I/O; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"

namespace ares::steps {

class AllocationHold {
 public:
  using ClientId = std::uint64_t;  // as in StepManager

  // `timeout`: without a connection of the command.
  explicit AllocationHold(Seconds timeout) : timeout_(timeout) {}

  // `unheld`: no command will come; the job lasts until it is cancelled.
  void script_waits(ClientId script, bool unheld, BootTime now);
  bool has_script() const { return script_.has_value(); }
  void command_holds(ClientId command);
  // The job is to end with that exit code; a second one changes nothing. The code, if the script has been
  // told: due() will not name this command.
  std::optional<std::uint32_t> command_releases(ClientId command, std::uint32_t code);
  void client_lost(ClientId client, BootTime now);

  // When due() has to be asked again; none: nothing is pending.
  std::optional<BootTime> deadline() const;

  struct Release {
    ClientId script = 0;
    std::optional<ClientId> command;  // that asked for it
    std::uint32_t code = 0;
    std::string why;  // empty: the command released it
  };
  // The script has to be told. Once for each script that waits.
  std::optional<Release> due(BootTime now);

 private:
  Seconds timeout_;
  std::optional<ClientId> script_;
  bool unheld_ = false;
  std::set<ClientId> commands_;
  std::optional<BootTime> alone_since_;  // the script waits, and no command is connected
  std::optional<ClientId> released_by_;
  std::optional<std::uint32_t> code_;
  bool told_ = false;  // a script has been
};

}  // namespace ares::steps
