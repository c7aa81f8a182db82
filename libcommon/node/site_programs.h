// SitePrograms: the programs that a site runs around each attempt on a node (node.prolog and
// node.epilog in ares.yaml), as StepMachine sees them. Owned by aresstepd's only thread.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "node/records.h"

namespace ares::node {

struct SitePrograms {
  virtual ~SitePrograms() = default;

  // Starts the program; an error says why it could not be started. Its end is announced by
  // StepMachine::program_ended(), never from within a call. One runs at a time.
  virtual Status start_prolog() = 0;
  // `exit`: how the batch script ended; none if it never ran.
  virtual Status start_epilog(const std::optional<ExitStatus>& exit) = 0;
  // Sends KILL to all processes of the program. May be called again.
  virtual void kill() = 0;
};

struct ProgramEnd {
  std::int32_t code = 0;
  std::int32_t signal = 0;
  std::string said{};  // the last line of its output
  bool succeeded() const { return code == 0 && signal == 0; }
};

// "exited with 3: no space left", "was ended by signal 9".
std::string describe(const ProgramEnd& end);

}  // namespace ares::node
