// The files of a directory that is to be a checkpoint, or is one. Everything is done as the user that calls. Stateless;
// any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "checkpoint/manifest.h"

namespace ares::checkpoint {

struct Tree {
  std::vector<std::string> files;        // within the directory, ascending; not the manifest
  std::vector<std::string> directories;  // full paths, inner ones last
};

// Refused: symbolic links and other files that are not regular, names that could not be shown, and too many.
Result<Tree> look_at(const std::string& directory);

struct Described {
  std::string manifest;  // its text
  Digest digest{};       // of that text
  Bytes size{};          // of all files
};

// The manifest of the directory's files. `header` has everything but those. With `sync` they are durable when this returns.
// failed_precondition: there are none, or too many.
Result<Described> describe(const std::string& directory, Manifest header, bool sync);

std::string without_slash(std::string path);

}  // namespace ares::checkpoint
