// A cluster whose records change at random, batch by batch, and the state that recovery must
// restore. Test code; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/engine/state.h"
#include "store/journal/journal.h"

namespace ares::testing {
class RandomModel;
}

namespace ares::store::testing {

// RandomModel, which makes the records, is not included here: it is instantiated for every stored type.
class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed, std::uint64_t jobs = 40);
  ~RandomCluster();

  // Continues from the state that a journal returned from open().
  void start_from(const ClusterState& state) { state_ = state; }
  void set_epoch(Epoch epoch) { state_.epoch = epoch; }

  const ClusterState& state() const { return state_; }

  std::uint64_t bits();
  std::uint64_t below(std::uint64_t bound);
  BlobId blob_id();

  // `events` random events and changes of records of every kind.
  Batch next(std::size_t events);

  // Events without records: for tests of the journal alone.
  Batch empty_batch(std::size_t events);

  void finish(Batch& batch);

 private:
  void change_something(Batch& batch);
  void put_job(Batch& batch);
  void drop_job(Batch& batch);
  void put_node(Batch& batch);
  void drop_node(Batch& batch);
  void put_request(Batch& batch);
  void put_partitions(Batch& batch);
  void put_reservation(Batch& batch);
  void put_record(Batch& batch);
  void put_evictions(Batch& batch);
  void put_tres(Batch& batch);

  std::unique_ptr<ares::testing::RandomModel> random_;
  std::uint64_t jobs_;
  ClusterState state_;
};

}  // namespace ares::store::testing
