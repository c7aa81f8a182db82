#include "checkpoint/tree.h"

#include <algorithm>
#include <filesystem>

#include "base/printable.h"

namespace ares::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 200'000;

}  // namespace

Result<Tree> look_at(const std::string& directory) {
  Tree tree;
  std::error_code error;
  if (fs::symlink_status(directory, error).type() != fs::file_type::directory)
    return fail(ErrorCode::not_found, directory + " is not a directory");
  tree.directories.push_back(directory);
  fs::recursive_directory_iterator entry(directory, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    const fs::file_type type = entry->symlink_status(error).type();
    if (error) break;
    if (type == fs::file_type::directory) {
      tree.directories.push_back(path);
      continue;
    }
    if (type != fs::file_type::regular)
      return fail(ErrorCode::failed_precondition, path + " is not a regular file");
    std::string inner = path.substr(directory.size() + 1);
    if (inner == kManifestName) continue;
    if (!is_utf8(inner) || has_control(inner))
      return fail(ErrorCode::failed_precondition,
                  "the name of file " + quote(inner) + " has control characters or is not UTF-8");
    tree.files.push_back(std::move(inner));
    if (tree.files.size() > kMostFiles)
      return fail(ErrorCode::failed_precondition,
                  directory + " has more than " + std::to_string(kMostFiles) + " files");
  }
  if (error) return fail(ErrorCode::failed_precondition, directory + ": " + error.message());
  std::sort(tree.files.begin(), tree.files.end());
  return tree;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result<Described> describe(const std::string& given, Manifest header, bool sync) {
  const std::string from = without_slash(given);
  const Result<Tree> tree = look_at(from);
  if (!tree) return fail(tree.error());
  if (tree->files.empty())
    return fail(ErrorCode::failed_precondition, from + " has no files: nothing was saved");
  header.files.clear();
  for (const std::string& path : tree->files) {
    const Result<FileDigest> content = digest_of_file(from + "/" + path, sync);
    if (!content) return fail(content.error());
    header.files.push_back({path, *content});
  }
  Described described;
  described.manifest = to_json(header);
  if (described.manifest.size() > kLongestManifest)
    return fail(ErrorCode::failed_precondition,
                from + " has too many files: their list would be longer than " +
                    std::to_string(kLongestManifest >> 20) + " MiB; put them into an archive");
  described.digest = digest_of_text(described.manifest);
  described.size = header.size();
  return described;
}

}  // namespace ares::checkpoint
