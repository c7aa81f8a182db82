#include "core/sched/queue/service_order.h"

#include "model/job/gpu_part.h"

namespace ares::core::sched {

using fairness::DominantShare;

ServiceOrder::ServiceOrder(std::vector<Queued>& entries, const Ranking& ranking,
                           const ClusterIndex& index)
    : entries_(entries), ranking_(ranking), index_(index) {}

Queued* ServiceOrder::next_by_share() {
  settle();
  if (!filling_) {
    if (at_ == entries_.size()) return nullptr;
    if (!ranking_.served_by_user(entries_[at_].rank)) return &entries_[at_++];
    begin_filling();
  }
  current_ = filling_->next();
  return &entries_[groups_[*current_].at];
}

void ServiceOrder::add_allocated(const JobSpec& spec, const Placement& placement) {
  if (!ranking_.any_served_by_user()) return;
  Amounts& amounts = allocated_[spec.uid];
  amounts.resize(index_.gpu_end());
  for (const PlacedShare& share : placement) {
    for (std::size_t i = 0; i < amounts.size(); ++i)
      if (i < kFirstGpu || !share.part)
        amounts[i] += share.amounts[i] * (i < kFirstGpu ? 1 : std::int64_t{kWholeGpu});
    if (share.part) amounts[share.part->column] += share.part->thousandths;
  }
  started_ = true;
}

bool ServiceOrder::defer_current() {
  deferred_ = filling_.has_value();
  return deferred_;
}

// Called after an entry was considered: its user then has another share, another entry, or none
// left.
void ServiceOrder::settle() {
  if (current_) {
    Group& group = groups_[*current_];
    if (!deferred_) ++group.at;
    if (group.at == group.end)
      filling_->drop();
    else if (started_)
      filling_->serve(share_of(group));
    if (!filling_->next()) filling_.reset();
  }
  current_.reset();
  started_ = deferred_ = false;
}

// Collects the entries from the current position on with the same tier, policy and band. They are
// contiguous, and so are those of each user.
void ServiceOrder::begin_filling() {
  if (capacity_.empty()) capacity_ = capacity_of(index_);
  const auto tier = entries_[at_].rank.tier;
  filling_.emplace();
  groups_.clear();
  while (at_ < entries_.size() && ranking_.served_by_user(entries_[at_].rank) &&
         entries_[at_].rank.tier == tier) {
    const JobSpec& spec = *entries_[at_].entry.job->spec;
    Group group{at_, at_, ranking_.weight_of(spec.user)};
    while (group.end < entries_.size() && ranking_.served_by_user(entries_[group.end].rank) &&
           entries_[group.end].rank.tier == tier &&
           entries_[group.end].entry.job->spec->uid == spec.uid)
      ++group.end;
    at_ = group.end;
    filling_->add(static_cast<std::uint32_t>(groups_.size()), share_of(group));
    groups_.push_back(group);
  }
}

DominantShare ServiceOrder::share_of(const Group& group) const {
  const UserId user = entries_[group.at].entry.job->spec->uid;
  Amounts amounts(index_.gpu_end());
  const auto add = [&](const Amounts& more) {
    for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i] += more[i];
  };
  if (const Amounts* running = ranking_.running().of(user)) add(*running);
  if (const auto allocated = allocated_.find(user); allocated != allocated_.end())
    add(allocated->second);
  return fairness::dominant_share(amounts, capacity_, group.weight);
}

}  // namespace ares::core::sched
