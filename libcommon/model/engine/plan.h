// What the scheduler proposes: ordered groups, each taken whole or not at all, and what it learnt about those that wait.
// Made by plan() on the scheduler thread from an immutable state; re-checked by the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cow_map.h"
#include "base/ids.h"
#include "base/time.h"
#include "model/job/job.h"

namespace ares {

struct Start {
  JobKey key;  // of an array: the array's id and the task chosen (it splits off on acceptance)
  std::string partition;
  std::optional<Seconds> time_limit;  // none = unlimited
  NodeShares nodes;                   // rank order
  std::vector<LicenseRequest> licenses{};
  std::uint32_t alternative = 0;  // of the specification's gpu_alternatives: which of them this is
};

// What is to be kept for a job until its victims have ended.
struct ProposedClaim {
  JobKey key;  // as of a start
  PreemptionClaim claim;
};

struct PlanGroup {
  std::vector<std::pair<JobKey, Lsn>> jobs;  // versions relied on
  std::vector<std::pair<NodeId, Lsn>> nodes;
  std::vector<Start> starts;  // or, where jobs must be ended first, none of these but:
  std::optional<ProposedClaim> claim{};
  std::optional<AttemptKey> resume{};  // or a suspended attempt that goes on
};

// A waiting job that may begin to gain age.
struct Accruing {
  JobKey key;
  Time since{};
  friend bool operator==(const Accruing&, const Accruing&) = default;
};

// Why a pending job waits. Not journaled: the next pass finds it again.
struct PendingInfo {
  Reason reason = Reason::none;
  std::string detail;  // numbers: "needs 4 a100 on one node: 12 nodes have too few free"
  std::optional<Time> expected_start;  // from the backfill profile
  std::vector<NodeId> expected_nodes;  // where, if it is known when
  std::string limit{};                 // of Reason::limit, as users know it: "AssocGrpCpuLimit"
  friend bool operator==(const PendingInfo&, const PendingInfo&) = default;
};

// The reason as users see it.
inline std::string_view reason_text(const PendingInfo& info) {
  return info.limit.empty() ? to_string(info.reason) : std::string_view(info.limit);
}

// Those the scheduler has looked at; what the record itself keeps back (a hold, a dependency) says so in the record.
using PendingInfos = CowMap<JobKey, PendingInfo>;

struct Plan {
  Lsn seen;  // state it was made from
  std::uint64_t budget = 0;
  std::uint64_t config_hash = 0;
  std::vector<PlanGroup> groups;
  std::vector<Accruing> accruing;
  PendingInfos pending;
  std::optional<Time> wake;  // earliest time at which time alone changes the outcome
};

}  // namespace ares
