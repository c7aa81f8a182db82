// Tests: step_client/allocation
// The controller recognises interactive allocations by their batch script, which nodes that run jobs in containers do not get.
#include "step_client/allocation.h"

#include <gtest/gtest.h>

#include "auth/blob_id.h"
#include "core/cluster/container_nodes.h"

namespace ares::step_client {
namespace {

TEST(AllocationScript, IsKnownToTheController) {
  EXPECT_EQ(auth::blob_id(holding_script(true)), core::kHeldAllocation);
  EXPECT_EQ(auth::blob_id(holding_script(false)), core::kUnheldAllocation);
}

}  // namespace
}  // namespace ares::step_client
