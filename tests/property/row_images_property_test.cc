// In any history: the row images of the batches contain the whole state, so that a controller that
// starts from them has the state of its predecessor.
#include <gtest/gtest.h>

#include "property/world.h"
#include "store/journal/mem_journal.h"
#include "store/journal/row_images.h"

namespace ares::property {
namespace {

TEST(RowImages, RecoveryEqualsTheLiveStateAfterEveryBatch) {
  std::size_t batches = 0, attempts = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    World world(seed, 2 + static_cast<int>(seed % 4));
    auto database = std::make_shared<store::MemDatabase>();
    store::MemDatabase::Contents configured;  // the world begins with a batch that sets it up
    configured.images = world.committed();
    const std::uint64_t first = world.committed().lsn.value();
    database->restore(configured);
    store::MemJournal journal(database);
    ASSERT_TRUE(journal.open());
    world.on_batch = [&](const core::EngineBatch& batch) {
      ++batches;
      attempts += batch.attempts.size();
      const auto done =
          journal.commit(store::make_batch(batch.events, batch.after, batch.attempts, batch.blobs));
      ASSERT_TRUE(done) << done.error().message;
      ClusterState expected = batch.after;
      ClusterState recovered = database->recovered();
      recovered.epoch = expected.epoch;
      ASSERT_TRUE(recovered == expected)
          << "seed " << seed << ", batch " << batch.first.value() << "-" << batch.last.value()
          << ": what a restart would load is not what was live";
    };
    for (int step = 0; step < 1200 && !HasFatalFailure(); ++step) world.step();
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(database->contents().events.size(), world.committed().lsn.value() - first);
  }
  EXPECT_GT(batches, 1000u);
  EXPECT_GT(attempts, 200u);
}

}  // namespace
}  // namespace ares::property
