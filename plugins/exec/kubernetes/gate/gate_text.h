// The texts that the agent and the gate of a pod exchange: settings in the Secret, the go and signals in annotations, and the result in
// the container's termination message. All are `key value` lines. Values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"

namespace ares::kubernetes {

// Folders in the main container.
inline constexpr const char* kGateFolder = "/ares/gate";    // the program; read-only
inline constexpr const char* kStateFolder = "/ares/state";  // of this pod, for as long as it exists
inline constexpr const char* kJobFolder = "/ares/job";      // the Secret
inline constexpr const char* kPodFolder = "/ares/pod";      // annotations, by the downward API
inline constexpr const char* kGateProgram = "ares-gate";
inline constexpr const char* kGateNames =
    "bin";  // below kGateFolder: commands that say that they do not work in pods

// Exit code of the init container if a directory cannot be mounted for the user.
inline constexpr int kGateRefused = 126;

// What the gate is to run.
struct GateSettings {
  Fence fence;
  bool runs_script = true;  // false: the pod only holds its part of the allocation
  std::vector<std::string> arguments{};
  std::string
      directory{};  // in which the script starts; if there is none of that name: the image's
  bool needs_directory = false;  // then the script does not start
  // Whether variables of the image win over those of the environment, all but these.
  bool is_image_first = false;
  std::vector<std::string> kept_variables{};
  // Files on a mounted file system; empty: the container's own streams, and an empty input.
  std::string input{}, output{}, error{};
  bool appends = false;
  bool sends_output = false;  // into the log, as output_log.h says; `output` is empty
  std::uint32_t umask = 022;
  std::vector<std::uint32_t> tasks{};  // of each node, for the file of hosts
};

// Permits user code to run, once.
struct GateGo {
  Fence fence;
  Time at{};
  // Of the node when the go was given: on another boot, or another machine of that name, the script does not run.
  std::string boot_id{};
  std::vector<std::string> hosts{};      // addresses of the job's pods by rank; empty: not known
  std::vector<std::string> variables{};  // NAME=value, in addition to the environment
};

// A signal for the processes of the job; newer ones have higher numbers.
struct GateSignal {
  std::uint64_t number = 0;
  std::int32_t signal = 0;
  bool script_only = false;
};

// How it ended.
struct GateResult {
  enum class End { exited, signalled, not_started, never_ran, ran_before };
  End end = End::never_ran;
  std::int32_t code = 0;    // of `exited`
  std::int32_t signal = 0;  // of `signalled`
  std::string why{};        // of the others
  bool is_sealed = false;  // of `never_ran`: no later start of the container runs the script either
  Duration user_cpu{}, system_cpu{};
  Bytes max_rss{};
};

std::string encode(const GateSettings& settings);
std::string encode(const GateGo& go);
std::string encode(const GateSignal& signal);
std::string encode(const GateResult& result);

// invalid_argument: it is none.
Result<GateSettings> decode_settings(std::string_view text);
Result<GateGo> decode_go(std::string_view text);
Result<GateSignal> decode_signal(std::string_view text);
Result<GateResult> decode_result(std::string_view text);

}  // namespace ares::kubernetes
