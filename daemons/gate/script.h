// The job's script as a process of the container, with all that it starts. Owned by the gate; one thread.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>

#include "base/result.h"
#include "exec/kubernetes/gate/gate_text.h"

namespace ares::gate {

struct ScriptStart {
  const kubernetes::GateSettings& settings;
  const kubernetes::GateGo& go;
  const std::string& job;    // folder with the script and its environment
  const std::string& state;  // folder for the file of hosts
  sigset_t blocked;          // signals to unblock in the script
  int output = -1;           // for what it prints, if settings.sends_output
};

class Script {
 public:
  // The error says why it could not be started, such as an interpreter that the image lacks.
  static Result<Script> start(const ScriptStart& start);

  // To all processes of the container but the gate, or to the script alone.
  void signal(int number, bool script_only) const;

  // Reaps what has ended. The result, once the script has ended: then what it left was killed.
  std::optional<kubernetes::GateResult> look();

 private:
  explicit Script(pid_t process) : process_(process) {}

  pid_t process_;
};

}  // namespace ares::gate
