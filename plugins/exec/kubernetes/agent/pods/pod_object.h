// A pod of Ares as its API object describes it. A value, and a pure function; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/gate/gate_text.h"
#include "exec/kubernetes/gate/output_log.h"

namespace ares::kubernetes {

struct PodObject {
  std::string name, space, uid;
  std::string version{};  // resourceVersion
  AttemptKey attempt;
  Fence fence;
  std::uint32_t rank = 0;
  std::string spec;      // the record `spec`
  std::string node_uid;  // of the node that it is for
  std::uint64_t node_incarnation = 0;
  std::string node;     // to which it is bound; empty: to none
  std::string address;  // its IP; empty: none yet
  std::optional<GateGo> go{};
  bool is_going = false;  // it has the annotation, whether or not it can be read
  std::string time_limit, end;
  std::uint64_t warned = 0;             // number of the last warning
  std::optional<OutputState> output{};  // its log is read
  bool is_deleted = false;              // a deletion was asked for
  bool has_finalizer = false;

  std::string phase, reason, message;
  enum class Main { unknown, waiting, running, ended };
  Main main = Main::unknown;
  std::string main_reason, main_message;  // of waiting or ended
  std::int32_t exit_code = 0;             // of ended, like the next ones
  std::optional<Time> ended_at{};
  std::string gate_reason, gate_message;  // of the init container while it waits or after it failed
  bool gate_failed = false;
  bool gate_refused = false;  // a directory cannot be mounted for the user
};

// none: not a pod of this cluster, or one whose labels say nothing usable.
std::optional<PodObject> read_pod(const Json& pod, std::string_view cluster);

}  // namespace ares::kubernetes
