#include "store/journal/faulty_journal.h"

#include <utility>

namespace ares::store {
namespace {

tl::unexpected<Error> away() {
  return fail(ErrorCode::unavailable, "the database is away");
}
tl::unexpected<Error> full(ErrorCode code) {
  return fail(code, "the database's disk is full");
}
tl::unexpected<Error> refused() {
  return fail(ErrorCode::internal, "the database refused the statement");
}

}  // namespace

template <class Run>
auto FaultyJournal::connecting(Operation operation, Run&& run) -> decltype(run()) {
  connected_ = false;
  const Fault fault = script_(operation, nullptr);
  if (fault == Fault::before) return away();
  if (fault == Fault::refuse) return refused();
  if (fault == Fault::full) return full(ErrorCode::unavailable);
  auto result = run();
  if (fault == Fault::after) return away();
  connected_ = result.has_value();
  return result;
}

Result<Opened> FaultyJournal::open() {
  return connecting(Operation::open, [this] { return inner_->open(); });
}

Result<Opened> FaultyJournal::reopen() {
  return connecting(Operation::reopen, [this] { return inner_->reopen(); });
}

Result<CommitOutcome> FaultyJournal::commit(const Batch& batch) {
  if (!connected_) return CommitOutcome::doubt;
  const Fault fault = script_(Operation::commit, &batch);
  if (fault == Fault::refuse) return refused();
  if (fault == Fault::full) return full(ErrorCode::resource_exhausted);
  if (fault == Fault::none) return inner_->commit(batch);
  connected_ = false;
  if (fault == Fault::before) return CommitOutcome::doubt;
  if (auto done = inner_->commit(batch); !done) return done;
  return CommitOutcome::doubt;
}

Result<bool> FaultyJournal::contains(Lsn lsn) {
  if (!connected_) return away();
  const Fault fault = script_(Operation::contains, nullptr);
  if (fault == Fault::none || fault == Fault::full) return inner_->contains(lsn);
  connected_ = false;
  if (fault == Fault::refuse) return refused();
  return away();
}

Result<std::shared_ptr<const std::string>> FaultyJournal::blob(const BlobId& id) {
  // blob() uses a separate connection: a fault here does not break the other one.
  const Fault fault = script_(Operation::blob, nullptr);
  if (fault == Fault::refuse) return refused();
  if (fault != Fault::none && fault != Fault::full) return away();
  return inner_->blob(id);
}

Result<std::string> FaultyJournal::secret() {
  return inner_->secret();
}

}  // namespace ares::store
