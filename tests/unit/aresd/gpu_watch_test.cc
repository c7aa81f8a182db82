#include "aresd/gpus/gpu_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace ares::aresd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What a watch reports while a shell prints instead of aresd.
class Reports {
 public:
  explicit Reports(const std::string& script)
      : watch_(GpuWatch::start(
            [this](const std::string& text, bool look_again) {
              const std::lock_guard lock(mutex_);
              texts_.push_back((look_again ? "again: " : "") + text);
              changed_.notify_all();
            },
            {"/bin/sh", "-c", script})) {}

  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return texts_.size() >= count; });
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  Result<GpuWatch> watch_;  // ends first
};

TEST(GpuWatch, ErrorsOfProgramsAreOnlyReported) {
  Reports reports("echo 'error 31 0000:07:00.0'; echo 'error 13 -'; exec sleep 1000");
  EXPECT_THAT(reports.wait_for(2), ElementsAre("GPU 0000:07:00.0: XID 31, an error of a program",
                                               "a GPU: XID 13, an error of a program"));
}

TEST(GpuWatch, ErrorsOfGpusLetTheirStateBeLookedAtAgain) {
  Reports reports(
      "echo nonsense; echo 'error 79 0000:07:00.0'; echo 'error 79 -'; exec sleep 1000");
  EXPECT_THAT(reports.wait_for(1),
              ElementsAre("again: GPU 0000:07:00.0: XID 79; its state is looked at again"));
}

TEST(GpuWatch, ItsEndIsReportedWithTheReason) {
  Reports reports("echo 'aresd: no GPU reports its errors' >&2; exit 1");
  EXPECT_THAT(reports.wait_for(1),
              ElementsAre(HasSubstr("errors of GPUs are not watched: aresd: no GPU reports")));
}

// Its process is killed then.
TEST(GpuWatch, CanBeStoppedAtAnyTime) {
  for (const char* script : {"exec sleep 1000", "echo 'error 79 -'; exec sleep 1000", "exit 0"})
    Reports reports(script);
}

}  // namespace
}  // namespace ares::aresd
