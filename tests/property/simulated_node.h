// The node daemon of a random cluster.
// For tests only; single thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/engine/node_message.h"

namespace ares::property {

// A node daemon reduced to its guarantees: it starts user code once per attempt and only after Go, keeps results
// until Forget, freezes attempts whose lease has expired, and loses everything except results when it reboots.
class SimulatedNode {
 public:
  SimulatedNode(std::string name, Seconds lease) : name_(std::move(name)), lease_(lease) {}

  struct Held {
    Fence fence;
    AttemptPhase phase = AttemptPhase::accepted;
    ExitStatus exit;
    bool batch = false, leased = false;
    Lsn suspend_set{};
    bool suspended = false;
    bool restores = false;  // the job has committed some
    bool saves = false;     // on the first node of a job with checkpoints; it has a step, too
  };

  void receive(const ToNodeBody& body, Time now, std::deque<FromNodeBody>& answers);
  FromNodeBody register_message() const;
  FromNodeBody heartbeat(Time now);
  // Spontaneous progress: a launch becomes ready, a script ends.
  void step(std::mt19937_64& random, std::deque<FromNodeBody>& answers);
  void reboot();

  bool frozen(const Held& held, Time now) const { return held.leased && now > lease_until_; }

  std::uint64_t incarnation = 1;
  std::map<AttemptKey, Held> attempts;
  std::map<AttemptKey, int> starts;  // starts of user code, never cleared
  bool registered = false;
  bool joins = false;  // the configuration does not have it

 private:
  AttemptReport report(const AttemptKey& key, const Held& held) const;
  std::vector<AttemptReport> reports() const;

  std::string name_;
  Seconds lease_;
  std::uint64_t sequence_ = 0;
  std::map<std::uint64_t, Time> sent_;
  Time lease_until_{};
};

}  // namespace ares::property
