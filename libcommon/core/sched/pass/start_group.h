// StartGroup: the jobs that start together or not at all: all members of a gang, or a job alone.
// Made by a pass for the entry that it considers; searches fill in the placements. Plain data; one
// thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/job/gang.h"
#include "core/sched/place/placement.h"
#include "core/sched/queue/job_class.h"
#include "core/sched/queue/queue_entry.h"
#include "core/sched/queue/ranking.h"

namespace ares::core::sched {

struct Member {
  QueueEntry entry;
  TaskIndex task{};  // for the record of an array: the task that is to start
  JobClass* job_class = nullptr;
  // Time limit of a start now. A search shortens it for a job that permits that.
  std::optional<Seconds> limit{};

  // Set by a search.
  Placement placement{};
  std::vector<LicenseRequest> licenses{};
  std::uint32_t alternative = 0;

  const Job& job() const { return *entry.job; }
  const JobSpec& spec() const { return *entry.job->spec; }
  const Partition& partition() const { return *entry.partition; }
};

struct StartGroup {
  // In the order in which placements are searched; not empty.
  std::span<Member> members;
  Rank rank{};                 // of the entry that is considered
  const Gang* gang = nullptr;  // null: a job alone

  // Whether nothing else has to be placed beside it. A gang of one member is alone, too.
  bool alone() const { return members.size() == 1; }
  // For example "job 12" or "gang train".
  std::string text() const;
};

// The members of a complete gang, hardest to place first, so that the remaining resources are not
// fragmented when the others are placed. Job classes and limits are not set.
std::vector<Member> members_of(const Gang& gang, const ClusterState& state);

// How the members of a gang are placed beside each other.
enum class GangOrder : std::uint8_t {
  close,   // on nodes that are close together in the network
  ranked,  // each by its partition's strategy
  // Each on the nodes with the most free capacity. For members of identical demand that order finds
  // a placement of all if there is one.
  spread,
};
// The orders to try, in this sequence. A job alone has one.
std::vector<GangOrder> gang_orders(const StartGroup& group);
// The demands of the members in that order; empty: those of their classes.
std::vector<Demand> demands_in_order(const StartGroup& group, GangOrder order,
                                     const ClusterIndex& index);

}  // namespace ares::core::sched
