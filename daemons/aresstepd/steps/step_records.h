// StepRecords: which steps of the attempt this node knows, so that numbers are used once and tasks begin at
// most once, also by step hosts one after the other. Owned by the step host; one thread.
//
// They are a page of a file that only root can open. The host maps it before it becomes the job's user:
// what a user could write to without bounds would let it fill the disk of the spool.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/result.h"

namespace ares::stepd {

class StepRecords {
 public:
  // Opens or makes the file `name` in the directory.
  static Result<StepRecords> open(const std::string& directory, const std::string& name);
  ~StepRecords();
  StepRecords(StepRecords&& other) noexcept;
  StepRecords& operator=(StepRecords&&) = delete;

  // A number that no step of this attempt has had.
  std::uint32_t new_number();

  // The commit point of a step on this node: false if its tasks have begun before, or may have, under an
  // earlier host.
  bool begin(std::uint32_t step);

 private:
  struct Page {
    std::uint32_t next_number;
    std::uint32_t next_to_begin;  // one more than the highest that has begun
  };
  explicit StepRecords(Page* page) : page_(page), floor_(page->next_to_begin) {}

  Page* page_;
  std::uint32_t floor_;            // earlier hosts may have begun those below
  std::set<std::uint32_t> begun_;  // by this one
};

}  // namespace ares::stepd
