#include "store/journal/mem_journal.h"

#include <string>
#include <utility>

#include "core/state/indexes.h"
#include "store/journal/images.h"

namespace ares::store {
namespace {

tl::unexpected<Error> fenced(Epoch mine, Epoch seen) {
  return fail(ErrorCode::stale, "epoch " + std::to_string(mine.value()) +
                                    " is over: another controller took over with epoch " +
                                    std::to_string(seen.value()));
}

}  // namespace

ClusterState MemDatabase::recovered() const {
  const Lock lock(mutex_);
  ClusterState state = contents_.images;
  state.epoch = contents_.epoch;
  rebuild_indexes(state);
  return state;
}

MemDatabase::Contents MemDatabase::contents() const {
  const Lock lock(mutex_);
  return contents_;
}

void MemDatabase::restore(Contents backup) {
  const Lock lock(mutex_);
  contents_ = std::move(backup);
}

MemJournal::MemJournal(std::shared_ptr<MemDatabase> database) : database_(std::move(database)) {
  const Lock lock(database_->mutex_);
  session_ = ++database_->last_session_;
}

Opened MemJournal::opened(ClusterState state) {
  state.epoch = epoch_;
  return Opened{epoch_, "memory", std::move(state)};
}

Result<Opened> MemJournal::open() {
  {
    const Lock lock(database_->mutex_);
    auto& held = database_->contents_;
    held.epoch = held.epoch.next();
    held.holder = session_;
    epoch_ = held.epoch;
  }
  return opened(database_->recovered());
}

Result<Opened> MemJournal::reopen() {
  const Lock lock(database_->mutex_);
  auto& held = database_->contents_;
  if (held.holder != session_) return fenced(epoch_, held.epoch);
  held.epoch = held.epoch.next();
  epoch_ = held.epoch;
  ClusterState state;
  state.lsn = held.images.lsn;
  return opened(std::move(state));
}

Result<CommitOutcome> MemJournal::commit(const Batch& batch) {
  const Lock lock(database_->mutex_);
  auto& held = database_->contents_;
  if (held.epoch != epoch_) return fenced(epoch_, held.epoch);
  if (held.images.lsn.next() != batch.first ||
      batch.last.value() - batch.first.value() + 1 != batch.events.size())
    return fail(ErrorCode::data_loss,
                "the journal ends at event " + std::to_string(held.images.lsn.value()) +
                    ", and the batch offered runs from " + std::to_string(batch.first.value()) +
                    " to " + std::to_string(batch.last.value()) + " with " +
                    std::to_string(batch.events.size()) + " events");
  held.events.insert(held.events.end(), batch.events.begin(), batch.events.end());
  for (const Attempt& attempt : batch.attempts)
    held.attempts.insert_or_assign(attempt.key, attempt);
  held.audit.insert(held.audit.end(), batch.audit.begin(), batch.audit.end());
  for (const Blob& blob : batch.blobs) held.blobs.emplace(blob.id, blob.content);
  apply_images(batch, held.images);
  return CommitOutcome::committed;
}

Result<bool> MemJournal::contains(Lsn lsn) {
  const Lock lock(database_->mutex_);
  auto& held = database_->contents_;
  if (held.epoch != epoch_) return fenced(epoch_, held.epoch);
  return held.images.lsn >= lsn;
}

Result<std::shared_ptr<const std::string>> MemJournal::blob(const BlobId& id) {
  const Lock lock(database_->mutex_);
  const auto& blobs = database_->contents_.blobs;
  const auto found = blobs.find(id);
  if (found == blobs.end())
    return fail(ErrorCode::not_found, "the script or environment is not in the database");
  return found->second;
}

// For tests and simulations, which have nothing to hide.
Result<std::string> MemJournal::secret() {
  return std::string(32, 's');
}

}  // namespace ares::store
