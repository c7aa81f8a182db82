// Tests: step_client/wait_limit
#include "step_client/wait_limit.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "os/fd.h"

namespace ares::step_client {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  void fill() const { EXPECT_EQ(::write(write.get(), "x", 1), 1); }
  os::Fd read, write;
};

TEST(WaitLimit, EndsWithWhatIsWaitedForOrTheTime) {
  const Pipe pipe;
  EXPECT_EQ(WaitLimit::of(std::chrono::milliseconds(1)).wait(pipe.read.get(), POLLIN),
            Waited::too_long);
  EXPECT_EQ(WaitLimit::of(Duration{}).wait(-1, 0), Waited::too_long);
  pipe.fill();
  EXPECT_EQ(WaitLimit::of(std::chrono::hours(1)).wait(pipe.read.get(), POLLIN), Waited::ready);
}

TEST(WaitLimit, InterruptionComesFirstAndIsLeftToBeRead) {
  const Pipe pipe, interrupt;
  pipe.fill();
  interrupt.fill();
  const WaitLimit limit = WaitLimit::of(std::chrono::hours(1), interrupt.read.get());
  EXPECT_EQ(limit.wait(pipe.read.get(), POLLIN), Waited::interrupted);
  EXPECT_EQ(limit.wait(-1, 0), Waited::interrupted);
}

}  // namespace
}  // namespace ares::step_client
