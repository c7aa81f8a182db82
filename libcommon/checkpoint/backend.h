// Backend: where checkpoints are kept, as acheckpoint and the supervisor see it. Plugins implement it behind
// plugin/checkpoint_abi.h, which says what each call does. Everything is done as the user that calls, the job's. Owned by
// the caller; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/digest.h"

namespace ares::checkpoint {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Status prepare(const std::string& place) = 0;

  // `manifest` is made by describe() (tree.h).
  virtual Status publish(const std::string& directory, const std::string& uri,
                         const std::string& manifest) = 0;
  virtual Status withdraw(const std::string& uri, const std::string& directory) = 0;

  // The text of the manifest. data_loss of verify(): it is not what was published; an error says what is wrong, for the
  // user.
  virtual Result<std::string> read(const std::string& uri) = 0;
  virtual Result<std::string> verify(const std::string& uri,
                                     const std::optional<Digest>& digest) = 0;
  virtual Status fetch(const std::string& uri, const std::optional<Digest>& digest,
                       const std::string& directory) = 0;

  // Oldest first.
  virtual Result<std::vector<std::string>> list(const std::string& place) = 0;
  virtual Status remove_older(const std::string& place, std::uint64_t oldest_kept) = 0;
};

// A line for the user about something that is no failure.
using Warn = std::function<void(const std::string& line)>;

}  // namespace ares::checkpoint
