#include "aresstepd/steps/step_records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "os/fd.h"

namespace ares::stepd {

Result<StepRecords> StepRecords::open(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  const os::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Space is taken now: a full disk found at a write to the page would be a signal.
  if (!file || ::posix_fallocate(file.get(), 0, sizeof(Page)) != 0)
    return fail(os::errno_error("cannot use " + path));
  void* const page =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (page == MAP_FAILED) return fail(os::errno_error("cannot map " + path));
  return StepRecords(static_cast<Page*>(page));
}

StepRecords::StepRecords(StepRecords&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)),
      floor_(other.floor_),
      begun_(std::move(other.begun_)) {}

StepRecords::~StepRecords() {
  if (page_) ::munmap(page_, sizeof(Page));
}

std::uint32_t StepRecords::new_number() {
  return page_->next_number++;
}

bool StepRecords::begin(std::uint32_t step) {
  if (step < floor_ || !begun_.insert(step).second) return false;
  page_->next_to_begin = std::max(page_->next_to_begin, step + 1);
  return true;
}

}  // namespace ares::stepd
