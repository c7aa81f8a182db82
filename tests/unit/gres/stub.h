// A machine for tests as a file, and the stand-in for NVIDIA's library that answers for it
// (tests/nvml/stub.cc).
#pragma once

#include <string>

#include "gres/found/found.h"
#include "gres/nvml/discover.h"

namespace ares::gres {

// Removed with everything in it at its end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Makes the folders above the file.
  void write(const std::string& path, const std::string& text) const;
  // A symbolic link, to a path relative to the folder of the link.
  void link(const std::string& path, const std::string& target) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Discovery by NVML on the machine that `json` describes. `stub` are more members of "stub" in it.
Result<FoundMachine> found_by_nvml(const std::string& json, const std::string& stub = "",
                                   const std::string& library = ARES_NVML,
                                   const std::string& root = "/nonexistent");

// The same for a machine of these GPUs: `count` of one kind, every two linked by `link`.
std::string machine_json(unsigned count, const std::string& link);

}  // namespace ares::gres
