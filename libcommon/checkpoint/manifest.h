// The manifest of a checkpoint: the file MANIFEST.json in its directory, with the digest of every other file.
// Every process that can write the checkpoint can write it, too, so it counts only with the digest that the controller knows.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "checkpoint/digest.h"

namespace ares::checkpoint {

inline constexpr const char* kManifestName = "MANIFEST.json";
inline constexpr std::size_t kLongestManifest = 64 << 20;

struct ManifestFile {
  std::string path;  // within the directory, with '/'
  FileDigest content;
};

struct Manifest {
  std::string job;  // its number, as "12"
  std::uint32_t attempt = 0;
  std::uint64_t sequence = 0;
  Time created{};
  std::vector<ManifestFile> files;            // by path, ascending
  std::map<std::string, std::string> fields;  // of the job: step, loss, ...

  Bytes size() const;
};

std::string to_json(const Manifest& manifest);

// invalid_argument for anything else than what to_json() writes; a path that leaves the directory, too.
Result<Manifest> from_json(std::string_view text);

// The name of a checkpoint's directory: "000007.2" is the seventh, written by the second attempt.
std::string directory_name(std::uint64_t sequence, std::uint32_t attempt);
struct DirectoryName {
  std::uint64_t sequence = 0;
  std::uint32_t attempt = 0;
};
std::optional<DirectoryName> parse_directory_name(std::string_view name);

}  // namespace ares::checkpoint
