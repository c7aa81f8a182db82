#include "acheckpoint/look.h"

#include <cstdio>

#include "base/printable.h"
#include "checkpoint/store.h"

namespace ares::acheckpoint {

Result<int> list(const std::string& store) {
  const auto paths = checkpoint::list(store);
  if (!paths) return fail(paths.error());
  for (const std::string& path : *paths) {
    const auto manifest = checkpoint::read_manifest(path);
    if (!manifest) {
      std::printf("%s damaged: %s\n", printable(path).c_str(),
                  printable(manifest.error().message).c_str());
      continue;
    }
    std::string fields;
    for (const auto& [name, value] : manifest->fields) fields += " " + name + "=" + value;
    std::printf("%s sequence=%llu attempt=%u files=%zu bytes=%lld%s\n", printable(path).c_str(),
                static_cast<unsigned long long>(manifest->sequence), manifest->attempt,
                manifest->files.size(), static_cast<long long>(manifest->size().value()),
                printable(fields).c_str());
  }
  return 0;
}

Result<int> verify(const std::vector<std::string>& directories, bool quiet) {
  if (directories.empty())
    return fail(ErrorCode::invalid_argument,
                "name the directory of a checkpoint: acheckpoint verify DIR");
  int status = 0;
  for (const std::string& directory : directories) {
    const auto manifest = checkpoint::verify(directory);
    if (!manifest) {
      std::fprintf(stderr, "acheckpoint: %s\n", printable(manifest.error().message).c_str());
      status = 1;
    } else if (!quiet) {
      std::printf("%s is intact\n", printable(directory).c_str());
    }
  }
  return status;
}

}  // namespace ares::acheckpoint
