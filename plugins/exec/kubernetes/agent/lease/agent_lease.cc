#include "exec/kubernetes/agent/lease/agent_lease.h"

#include <algorithm>
#include <utility>

namespace ares::kubernetes {

std::optional<LeaseCall> AgentLease::next(BootTime now) {
  if (in_flight_ || state_ == State::lost || state_ == State::given_up || now < next_at_)
    return std::nullopt;
  in_flight_ = is_write_next_ ? LeaseCall(write()) : LeaseCall(ReadLease{});
  sent_at_ = now;
  return in_flight_;
}

std::optional<BootTime> AgentLease::next_deadline() const {
  if (in_flight_ || state_ == State::lost || state_ == State::given_up) return std::nullopt;
  return next_at_;
}

WriteLease AgentLease::write() const {
  WriteLease write;
  if (known_) write.version = known_->version;
  if (known_) write.transitions = known_->transitions;
  write.is_taken = !known_ || known_->holder != self_;
  if (known_ && write.is_taken) ++write.transitions;
  if (!is_given_up_) write.holder = self_;
  return write;
}

void AgentLease::give_up() {
  write_until_ = {};
  is_given_up_ = true;
  if (state_ == State::held) {
    is_write_next_ = true;
    next_at_ = {};
  } else {
    state_ = State::given_up;
  }
}

void AgentLease::answered(const LeaseAnswer& answer, BootTime now) {
  const LeaseCall call = *std::exchange(in_flight_, std::nullopt);
  if (const WriteLease* write = std::get_if<WriteLease>(&call)) {
    wrote(*write, answer, now);
  } else if (answer.failure != Failure::none && answer.failure != Failure::not_found) {
    next_at_ = now + times_.look;
  } else {
    see(answer.failure == Failure::none ? answer.record : std::nullopt, now);
    if (state_ == State::held)
      look_after(now);
    else
      take_or_wait(answer, now);
  }
}

void AgentLease::see(std::optional<LeaseRecord> record, BootTime now) {
  const bool is_same = is_seen_ && known_.has_value() == record.has_value() &&
                       (!record || known_->version == record->version);
  // Of an object that was removed, its holder may not know yet.
  if (!is_same) {
    changed_at_ = now;
    if (record) waits_ = record->duration;
    waits_ = std::max(waits_, times_.duration);
  }
  if (record) is_seen_ = true;
  holder_ = record ? record->holder : "";
  known_ = std::move(record);
}

bool AgentLease::is_free(const LeaseAnswer& answer, BootTime now) const {
  if (now - changed_at_ >= waits_ + times_.timeout) return true;
  // Its own: taken by a call whose answer was lost.
  if (known_) return holder_.empty() || holder_ == self_ || answer.has_holder_ended;
  return !is_seen_;
}

void AgentLease::take_or_wait(const LeaseAnswer& answer, BootTime now) {
  is_write_next_ = is_free(answer, now);
  next_at_ = is_write_next_ ? now : now + times_.look;
}

// The holder looks if a renewal was refused: an earlier one may have succeeded without an answer.
void AgentLease::look_after(BootTime now) {
  if (known_ && holder_ != self_) {
    state_ = State::lost;
    write_until_ = {};
    return;
  }
  is_write_next_ = true;
  next_at_ = now;
}

void AgentLease::wrote(const WriteLease& write, const LeaseAnswer& answer, BootTime now) {
  if (is_given_up_ && write.holder.empty()) {
    state_ = State::given_up;
    return;
  }
  if (answer.failure == Failure::none && answer.record) {
    see(answer.record, now);
    state_ = State::held;
    if (!is_given_up_) write_until_ = sent_at_ + times_.duration * 2 / 3;
    was_refused_ = false;
    is_write_next_ = true;
    next_at_ = is_given_up_ ? now : std::max(now, sent_at_ + times_.renewal);
    return;
  }
  // Its namespace is being deleted, so no other agent can create it there. And the deletion ends only when the holder has removed the
  // finalizers of its pods.
  if (answer.failure == Failure::terminating && state_ == State::held && !is_given_up_)
    write_until_ = sent_at_ + times_.duration * 2 / 3;
  // It was changed, created or removed, perhaps by an earlier try: that is looked at.
  const bool is_changed = answer.failure == Failure::conflict ||
                          answer.failure == Failure::already_exists ||
                          answer.failure == Failure::not_found;
  is_write_next_ = state_ == State::held && !is_changed;
  next_at_ = is_changed && !was_refused_ ? now : now + times_.look;
  was_refused_ = is_changed;
}

}  // namespace ares::kubernetes
