#include "aresctld/engine/mark_keeper.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

namespace ares::aresctld {
namespace {

// Between the first write and the sync; with the time of the disk less than 100 ms. Each sync competes with
// the commits for the disk: 50 ms cost a tenth of the submissions made one at a time.
constexpr auto kUntilSync = std::chrono::milliseconds(80);

}  // namespace

MarkKeeper::~MarkKeeper() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) return;  // nothing was created
  thread_.join();
  Status saved = file_.write(mark_, true);
  if (saved) saved = file_.sync();
  if (!saved) spdlog::warn("{}", saved.error().message);
}

Status MarkKeeper::begin(store::HighWaterMark opened) {
  const Lock lock(mutex_);
  mark_ = std::move(opened);
  return create();
}

Status MarkKeeper::confirm() {
  const Lock lock(mutex_);
  return created_ ? Status() : create();
}

Status MarkKeeper::create() {
  mark_ = store::with_reserve(std::move(mark_), store::kReservedIds);
  if (Status created = file_.create(mark_); !created) return created;
  created_ = true;
  thread_ = std::thread([this] { run(); });
  return {};
}

void MarkKeeper::committed(Epoch epoch, Lsn lsn, JobId next_job_id, NodeId next_node_id) {
  const Lock lock(mutex_);
  if (objected_) return;
  const bool reserved = store::advance(mark_, epoch, lsn, next_job_id, next_node_id);
  if (created_) write(reserved);
}

void MarkKeeper::object(const JournalPosition& heard) {
  const Lock lock(mutex_);
  objected_ = true;
  mark_ = store::raised_to(std::move(mark_), heard);
  if (created_) return write(true);
  if (const Status created = create(); !created) spdlog::error("{}", created.error().message);
}

// A disk that fails is reported once and acknowledging goes on: nothing is lost by it
// unless an older database is restored as well, and then the nodes remember.
void MarkKeeper::write(bool now) {
  Status saved = file_.write(mark_);
  if (saved && now) saved = file_.sync();
  if (!saved && !write_failed_) spdlog::error("{}", saved.error().message);
  write_failed_ = !saved;
  if (std::exchange(unsynced_, true)) return;
  wake_.notify_one();
}

void MarkKeeper::run() {
  Lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this]() ARES_REQUIRES(mutex_) { return unsynced_ || stopping_; });
    // Commits that follow share the sync.
    if (wake_.wait_for(lock, kUntilSync, [this]() ARES_REQUIRES(mutex_) { return stopping_; }))
      return;
    unsynced_ = false;
    lock.unlock();
    const Status synced = file_.sync();
    lock.lock();
    if (!synced && !sync_failed_) spdlog::error("{}", synced.error().message);
    sync_failed_ = !synced;
    // After a failure the kernel forgets what it could not write.
    if (!synced) write(false);
  }
}

}  // namespace ares::aresctld
