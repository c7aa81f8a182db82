// SimulatedPods: what a kubelet would do next with each pod that is bound to one of its nodes. It decides; the program makes the calls, for
// each pod one at a time. It has no connection and no clock. Owned by the simulated kubelet; one thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.h"
#include "exec/kubernetes/api/json.h"

namespace ares::kubernetes_scale {

// What of a pod a kubelet acts on.
struct SeenPod {
  std::string space{};  // namespace
  std::string name{};
  std::string uid{};
  bool is_bound = false;
  bool is_deleted = false;      // and waits for its kubelet
  bool has_ended = false;       // according to its phase
  bool waits_for_gate = false;  // it has the gate of Ares, and so runs nothing before its go
  bool has_go = false;
};

SeenPod read_seen_pod(const kubernetes::Json& pod);

struct PodCall {
  enum class Kind {
    report_running,
    report_ended,  // with success, or killed
    remove,        // a pod that was deleted and does not run any more
  };
  Kind kind;
  SeenPod pod;
  bool is_killed = false;
};

class SimulatedPods {
 public:
  // A pod ends by itself after this time, counted from its start, or from its go if it has a gate.
  explicit SimulatedPods(Duration run_time) : run_time_(run_time) {}

  void see(const SeenPod& pod, BootTime now);
  void gone(const std::string& uid);

  // The calls to make now. None is returned for the pod again before done().
  std::vector<PodCall> due(BootTime now);
  // `succeeded`: else the same call is due again.
  void done(const PodCall& call, bool succeeded, BootTime now);
  std::optional<BootTime> next_deadline() const;

 private:
  struct Pod {
    SeenPod seen{};
    bool is_running = false, has_ended = false, is_removed = false;
    bool in_flight = false;
    std::optional<BootTime> ends_at{};
    std::optional<BootTime> planned{};
  };

  std::optional<PodCall> next_call(const Pod& pod, BootTime now) const;
  void plan(const std::string& uid, Pod& pod, BootTime now);

  Duration run_time_;
  std::unordered_map<std::string, Pod> pods_;  // by uid
  std::set<std::pair<BootTime, std::string>> due_;
};

}  // namespace ares::kubernetes_scale
