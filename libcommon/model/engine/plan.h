// Plan: ordered groups of proposed starts, each applied whole or not at all, and pending reasons.
// Made by plan() on the scheduler thread from an immutable state; checked again by the engine.
#pragma once

#include <algorithm>
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
  JobKey key;  // for an array: its id and the chosen task, which is split off on acceptance
  std::string partition;
  std::optional<Seconds> time_limit;  // none = unlimited
  NodeShares nodes;                   // rank order
  std::vector<LicenseRequest> licenses{};
  std::uint32_t alternative = 0;  // index into the specification's gpu_alternatives
  std::uint32_t priority = 0;     // by which it was ranked, as listings show it
};

// Resources to reserve for a job until its victims have ended.
struct ProposedClaim {
  JobKey key;  // as in Start
  PreemptionClaim claim;
};

struct PlanGroup {
  std::vector<std::pair<JobKey, Lsn>> jobs;  // versions of records that the group relies on
  std::vector<std::pair<NodeId, Lsn>> nodes;
  std::vector<Start> starts;  // empty if jobs must be preempted first; then `claims` are set
  std::vector<ProposedClaim> claims{};  // of jobs that start together; all name the same victims
  std::optional<AttemptKey> resume{};   // or: a suspended attempt to resume
};

// A pending job that may begin to gain age.
struct Accruing {
  JobKey key;
  Time since{};
  friend bool operator==(const Accruing&, const Accruing&) = default;
};

// Why a job is pending. Not journaled, because each pass computes it again.
struct PendingInfo {
  Reason reason = Reason::none;
  std::string detail;  // details: "needs 4 a100 on one node: 12 nodes have too few free"
  std::optional<Time> expected_start;  // from the backfill profile
  std::vector<NodeId> expected_nodes;  // at expected_start, if known
  std::string limit{};                 // name of the limit for Reason::limit: "AssocGrpCpuLimit"
  friend bool operator==(const PendingInfo&, const PendingInfo&) = default;
};

// The reason as shown to users.
inline std::string_view reason_text(const PendingInfo& info) {
  return info.limit.empty() ? to_string(info.reason) : std::string_view(info.limit);
}

// Only jobs that the scheduler evaluated. Holds and dependencies are in the record.
using PendingInfos = CowMap<JobKey, PendingInfo>;

struct Plan {
  Lsn seen;  // lsn of the state that it was made from
  std::uint64_t budget = 0;
  std::uint64_t config_hash = 0;
  std::vector<PlanGroup> groups;
  std::vector<Accruing> accruing;
  PendingInfos pending;
  std::optional<Time> wake;  // earliest time at which the passage of time alone changes the outcome

  void wake_by(Time time) { wake = std::min(wake.value_or(time), time); }
};

}  // namespace ares
