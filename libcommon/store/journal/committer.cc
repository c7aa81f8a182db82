#include "store/journal/committer.h"

#include <algorithm>
#include <utility>

namespace ares::store {

Committer::Committer(Journal& journal, Epoch epoch, RetryPace pace)
    : journal_(journal), epoch_(epoch), pace_(pace), wait_(pace.first) {}

void Committer::begin(std::shared_ptr<const Batch> batch) {
  batch_ = std::move(batch);
  phase_ = Phase::write;
  wait_ = pace_.first;
  doubts_ = 0;
}

void Committer::begin_check(Lsn last) {
  checked_ = last;
  phase_ = Phase::look_up;
  wait_ = pace_.first;
  doubts_ = 0;
}

Committer::Step Committer::advance() {
  for (;;) {
    std::optional<Step> step;
    switch (phase_) {
      case Phase::write: step = write(); break;
      case Phase::doubt: step = connect_again(); break;
      case Phase::look_up: step = look_up(); break;
    }
    if (step) return std::move(*step);
  }
}

std::optional<Committer::Step> Committer::write() {
  auto outcome = journal_.commit(*batch_);
  if (!outcome && outcome.error().code == ErrorCode::resource_exhausted)
    return retry(outcome.error());  // surely not committed: still the same batch and epoch
  if (!outcome) return give_up(outcome.error());
  if (*outcome == CommitOutcome::committed) return committed();
  phase_ = Phase::doubt;
  // Reconnect at once the first time. If the server repeatedly disconnects, wait before retrying.
  if (++doubts_ > 1)
    return retry({ErrorCode::unavailable, "the database broke off in the middle of a commit"});
  return std::nullopt;
}

std::optional<Committer::Step> Committer::connect_again() {
  auto opened = journal_.reopen();
  if (!opened) {
    if (opened.error().code == ErrorCode::unavailable) return retry(opened.error());
    return give_up(opened.error());
  }
  epoch_ = opened->epoch;
  phase_ = Phase::look_up;
  return std::nullopt;
}

std::optional<Committer::Step> Committer::look_up() {
  auto there = journal_.contains(batch_ ? batch_->last : *checked_);
  if (!there) {
    if (there.error().code != ErrorCode::unavailable) return give_up(there.error());
    phase_ = Phase::doubt;
    // A check may begin on a connection that was idle for long, so reconnect once without waiting.
    if (checked_ && ++doubts_ == 1) return std::nullopt;
    return retry(there.error());
  }
  if (*there) return committed();
  if (checked_)
    return give_up({ErrorCode::data_loss, "event " + std::to_string(checked_->value()) +
                                              " was committed and is no longer in the database"});
  phase_ = Phase::write;
  return std::nullopt;
}

Committer::Step Committer::committed() {
  batch_ = nullptr;
  checked_.reset();
  return Committed{epoch_};
}

Committer::Step Committer::retry(Error why) {
  const Duration wait = wait_;
  wait_ = std::min(wait_ * 2, pace_.longest);
  return RetryAfter{wait, std::move(why)};
}

// The batch remains in progress, so that it is not taken for committed.
Committer::Step Committer::give_up(Error error) {
  return error;
}

}  // namespace ares::store
