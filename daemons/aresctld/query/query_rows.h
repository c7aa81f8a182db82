// What a listing says about one job: a record of the view as a row of the API.
// Belongs to one query on one thread; reads an immutable view.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "aresctld/engine/view.h"
#include "core/accounts/limits/accrual_limits.h"
#include "core/sched/queue/order.h"
#include "core/sched/why/explainer.h"
#include "model/job/job.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// The fields of api::Job that an answer shows: nothing else is computed.
class ShownFields {
 public:
  // Everything; with `details` also the specification and what each node gives.
  static ShownFields everything(bool details);
  // Those of a table: see api::Table.fields.
  static ShownFields only(std::span<const std::uint32_t> fields);

  bool operator()(int field) const { return fields_.test(static_cast<std::size_t>(field)); }
  template <class... Field>
  bool any(Field... fields) const {
    return ((*this)(fields) || ...);
  }

 private:
  std::bitset<256> fields_;
};

class JobRows {
 public:
  // `named`: the jobs were asked for by name, so what costs a look at the whole queue is told of the first few as well.
  // `view` and `policy` must outlive it.
  JobRows(const View& view, const Policy& policy, ShownFields shown, bool named, Time now)
      : view_(view),
        shown_(shown),
        named_(named),
        now_(now),
        pending_(*view.pending),
        explainer_(*view.state, policy),
        ahead_(*view.state, policy, now),
        accrual_limits_(view.state->accounting, view.state->partitions, policy) {}

  // Replaces `out`. A `waiting` task of an array is shown as a row of its own.
  void describe(const Job& job, std::optional<std::uint32_t> waiting, api::Job& out);

 private:
  void describe_reason(const Job& job, api::Job& out);
  void describe_why(const Job& job, const PendingInfo* seen, api::Job& out);
  void describe_gang(const Job& job, api::Job& out);
  void describe_allocation(const Job& job, api::Job& out) const;
  void describe_requested(const Job& job, api::Job& out) const;

  const View& view_;
  const ShownFields shown_;
  const bool named_;
  std::size_t queue_scans_ = 0;
  // Members and size of gangs that were described already, by number and whether they still gather.
  std::map<std::pair<JobId, bool>, std::pair<std::uint32_t, std::uint32_t>> gangs_;
  const Time now_;
  PendingInfos::NearbyLookup pending_;
  core::Explainer explainer_;
  core::sched::JobsAhead ahead_;
  core::AccrualLimits accrual_limits_;
};

}  // namespace ares::aresctld
