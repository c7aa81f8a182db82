// Converts job records of a view to rows of the API.
// Used by one query on one thread; reads an immutable view.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "aresctld/engine/view.h"
#include "aresctld/identity.h"
#include "core/accounts/limits/accrual_limits.h"
#include "core/sched/queue/order.h"
#include "core/sched/queue/shown_priority.h"
#include "core/sched/why/explainer.h"
#include "model/job/job.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// The fields of api::Job in an answer; other fields are not computed.
class ShownFields {
 public:
  // All fields; specification and node shares only with `details`.
  static ShownFields everything(bool details);
  // Fields of a table: see api::Table.fields.
  static ShownFields only(std::span<const std::uint32_t> fields);

  bool operator()(int field) const { return fields_.test(static_cast<std::size_t>(field)); }
  template <class... Field>
  bool any(Field... fields) const {
    return ((*this)(fields) || ...);
  }

 private:
  static constexpr std::size_t kFields =
      512;  // above all numbers of fields of api::Job; a test looks
  std::bitset<kFields> fields_;
};

class JobRows {
 public:
  // `named`: jobs were requested by id; the first few get fields that need a scan of the queue.
  // `view` and `policy` must outlive it, and `identity`, without which there are no names of groups.
  JobRows(const View& view, const Policy& policy, ShownFields shown, bool named, Time now,
          Identity* identity = nullptr)
      : view_(view),
        policy_(policy),
        shown_(shown),
        named_(named),
        now_(now),
        identity_(identity),
        pending_(*view.pending),
        explainer_(*view.state, policy),
        ahead_(*view.state, policy, now),
        priorities_(*view.state, policy, now),
        accrual_limits_(view.state->accounting, view.state->partitions, policy) {}

  // Replaces `out`. A `waiting` task of an array has its own row.
  void describe(const Job& job, std::optional<std::uint32_t> waiting, api::Job& out);

 private:
  void describe_reason(const Job& job, api::Job& out);
  void describe_silence(const Job& job, api::Job& out) const;
  void describe_why(const Job& job, const PendingInfo* seen, api::Job& out);
  void describe_gang(const Job& job, api::Job& out);
  void describe_allocation(const Job& job, api::Job& out) const;
  void describe_requested(const Job& job, api::Job& out) const;

  const View& view_;
  const Policy& policy_;
  const ShownFields shown_;
  const bool named_;
  std::size_t queue_scans_ = 0;
  // Members and size of gangs already described, by number and whether the gang waits.
  std::map<std::pair<JobId, bool>, std::pair<std::uint32_t, std::uint32_t>> gangs_;
  const Time now_;
  Identity* const identity_;
  PendingInfos::NearbyLookup pending_;
  core::Explainer explainer_;
  core::sched::JobsAhead ahead_;
  core::sched::ShownPriorities priorities_;
  core::AccrualLimits accrual_limits_;
};

}  // namespace ares::aresctld
