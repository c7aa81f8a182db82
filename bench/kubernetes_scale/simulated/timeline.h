// Timeline: how many pods of each namespace have reached each state, over time. Written as lines of JSON. Owned by the simulated kubelet;
// one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace ares::kubernetes_scale {

// `created` to `gone` as seen in a watch; running and ended when the API server has taken the status.
enum class PodState { created, bound, running, ended, gone };

class Timeline {
 public:
  // A pod counts once for a state. Pods must be told of until they are gone.
  void count(const std::string& space, const std::string& uid, PodState state);
  void forget(const std::string& uid) { seen_.erase(uid); }

  bool has_news() const { return has_news_; }
  // {"at": SECONDS, "NAMESPACE": {"created": N, ...}, ...}, and there is no news any more.
  std::string line(Time now);

 private:
  static constexpr std::size_t kStates = 5;
  std::map<std::string, std::array<std::size_t, kStates>> counts_;
  std::map<std::string, std::uint8_t> seen_;  // by uid: a bit a state
  bool has_news_ = false;
};

}  // namespace ares::kubernetes_scale
