// AgentLease: decides which agent of a Kubernetes cluster is the active one, by an object Lease of the API. It has no connection and no
// clock; LeaseHolder makes the calls. Owned by that; one thread.
//
// The holder renews the lease, and writes nothing later than two thirds of its duration after it has begun the last renewal that
// succeeded, or was refused since the namespace of the lease is being deleted. Another agent waits for all of the duration and the time-out
// of a call, from when it has seen the last change of the object; then it replaces the version that it has seen. Each counts on its own
// clock: those need not agree, only run about equally fast. At once it replaces a lease without a holder, or one whose holder is a process
// that has certainly ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/time.h"
#include "exec/kubernetes/api/reply.h"

namespace ares::kubernetes {

struct LeaseTimes {
  Duration duration = std::chrono::seconds(15);
  Duration renewal = std::chrono::seconds(5);  // from one to the next
  Duration timeout = std::chrono::seconds(5);  // of a call
  Duration look =
      std::chrono::seconds(1);  // between two looks at another's lease, and after a failure
};

// What counts of the object.
struct LeaseRecord {
  std::string version;            // that the server gives each change
  std::string holder;             // empty: none
  Duration duration{};            // that its holder keeps to
  std::uint64_t transitions = 0;  // how often it has got another holder
};

struct ReadLease {};
struct WriteLease {
  std::string version;  // that is replaced; empty: the object is created
  std::string holder;   // empty: the lease is given up
  std::uint64_t transitions = 0;
  bool is_taken = false;  // it has another holder with this
};
using LeaseCall = std::variant<ReadLease, WriteLease>;

struct LeaseAnswer {
  Failure failure = Failure::none;
  std::optional<LeaseRecord> record{};  // of a success
  bool has_holder_ended = false;        // certainly
};

class AgentLease {
 public:
  enum class State {
    standby,
    held,
    lost,     // another has it, for good
    given_up  // by give_up()
  };

  AgentLease(std::string self, const LeaseTimes& times) : self_(std::move(self)), times_(times) {}

  // The call to make now; none: one is in flight, or it is too early.
  std::optional<LeaseCall> next(BootTime now);
  std::optional<BootTime> next_deadline() const;
  void answered(const LeaseAnswer& answer, BootTime now);
  // The next call empties the lease. To be called when no write of the holder is in flight.
  void give_up();

  State state() const { return state_; }
  // By when all that the holder writes must have been answered.
  BootTime write_until() const { return write_until_; }
  // Who holds it, as last seen; empty: none.
  const std::string& holder() const { return holder_; }

 private:
  bool is_free(const LeaseAnswer& answer, BootTime now) const;
  void see(std::optional<LeaseRecord> record, BootTime now);
  void take_or_wait(const LeaseAnswer& answer, BootTime now);
  void look_after(BootTime now);
  void wrote(const WriteLease& write, const LeaseAnswer& answer, BootTime now);
  WriteLease write() const;

  std::string self_;
  LeaseTimes times_;
  State state_ = State::standby;
  bool is_write_next_ = false;
  BootTime next_at_{};
  std::optional<LeaseCall> in_flight_;
  BootTime sent_at_{};

  bool is_seen_ = false;              // the object, once
  std::optional<LeaseRecord> known_;  // as last seen; none: there was none
  std::string holder_;
  BootTime changed_at_{};  // when its last change was seen
  Duration waits_{};       // from there, for it to expire
  BootTime write_until_{};
  bool is_given_up_ = false;
  bool was_refused_ = false;  // the last write: another look waits
};

}  // namespace ares::kubernetes
