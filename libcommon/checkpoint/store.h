// Checkpoints in a directory: published there, verified, removed. Everything is done as the user that calls, the
// job's. A published one is never changed. Stateless; any thread, one process for each directory that is published.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/manifest.h"

namespace ares::checkpoint {

struct Published {
  std::string path;
  Digest manifest{};
  Bytes size{};
};

// Makes all files of `from` durable, adds the manifest, and renames the directory to its name in `store`, which must
// be on the same file system. `header` has everything but the files. On failure `from` is still there. Refused:
// symbolic links and other files that are not regular, and an empty directory.
Result<Published> publish(const std::string& from, const std::string& store, Manifest header);

// Looks whether the manifest has this digest, every file is as the manifest says, and no other is there. An error
// says what is wrong, for the user.
Result<Manifest> verify(const std::string& directory, const Digest& manifest);

// The same without a digest to compare with: whether the checkpoint is consistent in itself.
Result<Manifest> verify(const std::string& directory);

// The manifest alone; its digest and the files are not looked at.
Result<Manifest> read_manifest(const std::string& directory);

// Paths of the published checkpoints, oldest first.
Result<std::vector<std::string>> list(const std::string& store);

// Removes checkpoints that are older than the one of this number. What cannot be removed stays.
void remove_older(const std::string& store, std::uint64_t oldest_kept);

}  // namespace ares::checkpoint
