// The loaded library: opened and initialised while this exists. Owned by one discovery; one thread.
// Calls may block in the driver, so it is used only in a process that its parent can abandon
// (aresd/gpus/discovery_child.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "gres/nvml/api.h"

namespace ares::gres::nvml {

class Library {
 public:
  // not_found: no such library, or no driver is loaded; failed_precondition: the library lacks an
  // entry point without which nothing can be found, or cannot be initialised.
  static Result<Library> open(const std::string& name);
  Library(Library&& other) noexcept;
  Library& operator=(Library&&) = delete;
  ~Library();

  const Api& api() const { return api_; }
  // Entry points that this version lacks and that are not needed on every machine.
  const std::vector<std::string>& missing() const { return missing_; }
  // "Not Supported (3)".
  std::string describe(Return error) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  Status resolve();

  void* handle_ = nullptr;
  bool initialised_ = false;
  Api api_{};
  std::vector<std::string> missing_;
};

}  // namespace ares::gres::nvml
