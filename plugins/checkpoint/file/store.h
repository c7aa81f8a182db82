// FileStore: checkpoints in a directory, each in one of its own, whose URI is its path. Published by a rename, never
// changed then. Stateless; any thread, one process for each directory that is published.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/backend.h"

namespace ares::checkpoint::file {

class FileStore final : public Backend {
 public:
  // Makes the directory, for its owner alone.
  Status prepare(const std::string& place) override;

  // Renames the directory to `path`, which must be on the same file system. Its files are durable already: see describe().
  Status publish(const std::string& directory, const std::string& path,
                 const std::string& manifest) override;
  Status withdraw(const std::string& path, const std::string& directory) override;
  Result<std::string> read(const std::string& path) override;
  Result<std::string> verify(const std::string& path, const std::optional<Digest>& digest) override;
  Status fetch(const std::string& path, const std::optional<Digest>& digest,
               const std::string& directory) override;
  Result<std::vector<std::string>> list(const std::string& place) override;
  Status remove_older(const std::string& place, std::uint64_t oldest_kept) override;
};

}  // namespace ares::checkpoint::file
