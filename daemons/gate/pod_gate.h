// The first process of the main container of a job's pod: waits for the go of the agent, runs the job's script once, passes signals on,
// and leaves the result as the container's termination message. A container that is started again runs nothing.
// Used by main() and tests; one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::gate {

// The folders that gate_text.h names; another root and another file in tests.
struct Places {
  std::string state = "/ares/state";
  std::string job = "/ares/job";
  std::string pod = "/ares/pod";
  std::string result = "/dev/termination-log";
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
  int log = 1;  // of the container
};

// Returns the exit code of the process: that of the script, 128 and its signal, or one of these.
inline constexpr int kNotStarted = 127;
inline constexpr int kNeverRan = 143;
inline constexpr int kRanBefore = 125;
int run(const Places& places);

// Commands of Ares that scripts may call, and that do not work in a pod. The gate stands in their place, behind all that an image has in
// PATH: says so and what to do, and returns an exit code.
inline constexpr int kNotInPod = 1;
bool is_not_in_pods(std::string_view name);
int explain(std::string_view name);

// Puts this program into `folder`, where the main container finds it, and looks whether the user may enter the directories that are
// to be mounted. Returns the exit code: 0, 1 or kubernetes::kGateRefused, with the reason on standard error and in the termination message.
int prepare(const std::string& folder, const std::vector<std::string>& directories,
            const Places& places);

}  // namespace ares::gate
