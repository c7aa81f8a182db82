// Backfill: jobs that wait are promised the earliest start, as many of a partition as its rule says; others may go first if they
// leave those promises alone. Pure; works on one pass's profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/index/demand.h"
#include "core/sched/place/fit.h"
#include "core/sched/time/profile.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

// What a pass may still spend. One unit is one node looked at for one job.
class Work {
 public:
  explicit Work(std::uint64_t units) : left_(units) {}
  static Work unbounded() { return Work(~std::uint64_t{0}); }
  bool exhausted() const { return left_ == 0; }
  void spend(std::uint64_t units) { left_ = units > left_ ? 0 : left_ - units; }

 private:
  std::uint64_t left_;
};

// Nodes that a demand may use, both ascending; every required one is among the nodes.
struct NodeSet {
  std::span<const NodeIndex> nodes;
  std::span<const NodeIndex> required{};
  const Bitset* bits =
      nullptr;  // the nodes once more; null: only searches of what is free now would gain by it
};

enum class Against : std::uint8_t { totals, free_now };

// On empty nodes, or on what is free at this moment, promises ignored. Parts of GPUs are then of the fullest shared device of the node that
// has room.
std::optional<Placement> fit_on(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                Against against, Work& work);

// Whether it fits on empty nodes for certain; if not, only fit_on() knows. Looks at no more nodes than are needed to tell.
bool fits_empty(const Demand& demand, NodeSet set, const ClusterIndex& index);

// Whether a part of a GPU may be of one that others have parts of by now: of whoever starts at once. What is promised is a GPU of its own,
// so that it is never late.
enum class JoinShared : std::uint8_t { never, now };

// On what stays free for the whole of [from, to).
std::optional<Placement> fit_between(const Demand& demand, NodeSet set, const ClusterIndex& index,
                                     const Profile& profile, Time from, std::optional<Time> to,
                                     Work& work, JoinShared joining = JoinShared::never);

// Whether a promise lies on any of the nodes, so that what is free now may be needed later.
bool promised(NodeSet set, const Profile& profile);
bool promised(const Placement& placement, const Profile& profile);

// Whether it matters to the demand when reservations begin and end.
bool reserved(const Demand& demand, NodeSet set, const ClusterIndex& index);
bool reserved(const Demand& demand, const Placement& placement, const ClusterIndex& index);

struct EarliestStart {
  Time at{};
  Placement placement;
};

// The earliest start from now on, not before `from`; nothing if the work ran out or it never fits.
std::optional<EarliestStart> earliest(const Demand& demand, std::optional<Seconds> limit,
                                      NodeSet set, const ClusterIndex& index,
                                      const Profile& profile, Work& work, Time from = Time::min());

// Raises what a promise keeps free to what its demand asks of each node: with limits every node must be able to take an even share,
// though where shares cannot be equal the last ones take less. If only that were kept, somebody could take the rest of such
// a node, and it would do no more when the time has come.
void keep_even_shares(const Demand& demand, const ClusterIndex& index, Placement& placement);

// Raises what a promise keeps free to all that it must keep for its job to start for certain: even shares, the whole node of whoever
// wants to be alone, and GPUs of which only some are linked as asked.
void keep_for(const Demand& demand, std::optional<Seconds> limit, const ClusterIndex& index,
              const Profile& profile, EarliestStart& promise);

// Who waits in which partition, and who of them is promised a start: one pass's account of the rules of backfill.
class Promises {
 public:
  // The reservations that jobs ask for: those who do wait in a line of their own, in each partition.
  using Inside = std::vector<std::string>;

  // The policy must outlive it.
  explicit Promises(const Policy& policy) : policy_(policy) {}

  // Whether anybody who may be promised something waits there.
  bool any_waits(const Partition* partition, const Inside& inside = {}) const;
  // Somebody waits there; whether it is the first.
  bool waits(const Partition* partition, const Inside& inside = {});
  // Whether one more is promised a start there, which is counted.
  bool grant(const Partition* partition, const Inside& inside = {});
  // That promise could not be made: there is no time at which the job fits. Nobody waits behind it.
  void refund(const Partition* partition, const Inside& inside = {});
  // Whether nothing may start there any more in this pass, because somebody waits whom nobody passes.
  bool closed(const Partition* partition, const Inside& inside = {}) const;

  // Whether whoever waits there from now on in this pass is promised nothing; somebody does already.
  bool spent(const Partition* partition, const Inside& inside = {}) const;

  // No start there is before this: where nobody passes anybody, that of the one before.
  Time not_before(const Partition* partition, const Inside& inside = {}) const;
  void note_start(const Partition* partition, Time at, const Inside& inside = {});

 private:
  struct Line {
    Backfill rule;
    bool waiting = false;
    std::uint32_t promised = 0;
    Time last = Time::min();
  };
  Line& line(const Partition* partition, const Inside& inside);

  const Policy& policy_;
  std::map<std::pair<const Partition*, Inside>, Line> lines_;  // looked up, never walked
  bool any_closed_ = false;
};

}  // namespace ares::core::sched
