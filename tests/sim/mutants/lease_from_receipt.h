// LeaseFromReceipt: a planted bug: leases count from the arrival of the reply to a heartbeat instead
// of from the sending of that heartbeat. Owned by a NodeDaemon of a mutated simulation; one thread.
#pragma once

#include "node/executor.h"

namespace ares::sim {

class LeaseFromReceipt final : public node::Executor {
 public:
  explicit LeaseFromReceipt(node::Executor& inner) : inner_(inner) {}

  static constexpr Seconds kLease{30};  // value of the simulation's policy

  void renew_lease(const AttemptKey& key, BootTime, node::Moment now) override {
    last_ = now.boot + kLease;
    inner_.renew_lease(key, *last_, now);
  }
  void go(const Go& go, std::optional<BootTime> until, node::Moment now) override {
    inner_.go(go, until && last_ ? last_ : until, now);
  }

  Status launch(const node::StepSpec& spec, node::Moment now) override {
    return inner_.launch(spec, now);
  }
  void kill(const Kill& kill, node::Moment now) override { inner_.kill(kill, now); }
  void signal(const Signal& signal, node::Moment now) override { inner_.signal(signal, now); }
  void set_limit(const SetLimit& limit, node::Moment now) override { inner_.set_limit(limit, now); }
  void set_suspended(const SetSuspended& message, node::Moment now) override {
    inner_.set_suspended(message, now);
  }
  void release(const AttemptKey& key, node::Moment now) override { inner_.release(key, now); }
  std::vector<AttemptReport> list(node::Moment now) override { return inner_.list(now); }

 private:
  node::Executor& inner_;
  std::optional<BootTime> last_;
};

}  // namespace ares::sim
