#include "checkpoint/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/printable.h"

namespace ares::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 200'000;

tl::unexpected<Error> cannot(const std::string& what, int error = errno) {
  return fail(error == ENOSPC ? ErrorCode::resource_exhausted : ErrorCode::failed_precondition,
              what + ": " + std::strerror(error));
}

Status sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return cannot("cannot open " + path);
  const int synced = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  if (synced != 0) return cannot("cannot write " + path, error);
  return {};
}

struct Tree {
  std::vector<std::string> files;        // within the directory, ascending
  std::vector<std::string> directories;  // full paths, inner ones last
};

// Its regular files and directories. The manifest is not among them.
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

Status write_manifest(const std::string& directory, const std::string& text) {
  const std::string path = directory + "/" + kManifestName;
  // It may be left by an earlier attempt to publish.
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot("cannot replace " + path);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return cannot("cannot create " + path);
  std::string_view rest = text;
  int error = 0;
  while (!rest.empty() && error == 0) {
    const ssize_t count = ::write(fd, rest.data(), rest.size());
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) return cannot("cannot write " + path, error);
  return {};
}

Result<std::string> manifest_text(const std::string& directory) {
  const std::string path = directory + "/" + kManifestName;
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return fail(ErrorCode::not_found, "cannot read " + path + ": " + error.message());
  if (size > kLongestManifest) return fail(ErrorCode::invalid_argument, path + " is too long");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::failed_precondition, "cannot read " + path);
  return text.str();
}

Result<Manifest> verify_text(const std::string& directory, const std::string& text) {
  Result<Manifest> manifest = from_json(text);
  if (!manifest) return fail(manifest.error());
  const Result<Tree> tree = look_at(directory);
  if (!tree) return fail(tree.error());
  std::set<std::string> known;
  for (const ManifestFile& file : manifest->files) {
    known.insert(file.path);
    const Result<FileDigest> found = digest_of_file(directory + "/" + file.path);
    if (!found) return fail(found.error());
    if (found->size != file.content.size)
      return fail(ErrorCode::data_loss,
                  directory + "/" + file.path + " has " + std::to_string(found->size.value()) +
                      " bytes instead of " + std::to_string(file.content.size.value()));
    if (found->digest != file.content.digest)
      return fail(ErrorCode::data_loss,
                  directory + "/" + file.path + " is damaged: its SHA-256 is another one");
  }
  for (const std::string& file : tree->files)
    if (!known.contains(file))
      return fail(ErrorCode::data_loss,
                  directory + "/" + file + " was added after the checkpoint was made");
  return manifest;
}

}  // namespace

Result<Published> publish(const std::string& given, const std::string& store, Manifest header) {
  const std::string from = without_slash(given);
  const Result<Tree> tree = look_at(from);
  if (!tree) return fail(tree.error());
  if (tree->files.empty())
    return fail(ErrorCode::failed_precondition, from + " has no files: nothing was saved");
  header.files.clear();
  for (const std::string& path : tree->files) {
    const Result<FileDigest> content = digest_of_file(from + "/" + path, true);
    if (!content) return fail(content.error());
    header.files.push_back({path, *content});
  }
  const std::string text = to_json(header);
  if (text.size() > kLongestManifest)
    return fail(ErrorCode::failed_precondition,
                from + " has too many files: their list would be longer than " +
                    std::to_string(kLongestManifest >> 20) + " MiB; put them into an archive");
  if (Status written = write_manifest(from, text); !written) return fail(written.error());
  for (auto directory = tree->directories.rbegin(); directory != tree->directories.rend();
       ++directory)
    if (Status synced = sync_directory(*directory); !synced) return fail(synced.error());
  Published published;
  published.path = store + "/" + directory_name(header.sequence, header.attempt);
  published.manifest = digest_of_text(text);
  published.size = header.size();
  if (::rename(from.c_str(), published.path.c_str()) != 0) {
    const int error = errno;
    if (error == EXDEV)
      return fail(ErrorCode::failed_precondition,
                  from + " is on another file system than " + store +
                      ": write checkpoints to a directory within it");
    return cannot("cannot publish " + from + " as " + published.path, error);
  }
  if (Status synced = sync_directory(store); !synced) {
    (void)::rename(published.path.c_str(), from.c_str());  // as if nothing had been done
    return fail(synced.error());
  }
  return published;
}

Result<Manifest> verify(const std::string& directory, const Digest& manifest) {
  const Result<std::string> text = manifest_text(directory);
  if (!text) return fail(text.error());
  if (digest_of_text(*text) != manifest)
    return fail(ErrorCode::data_loss,
                directory + "/" + kManifestName +
                    " is not the one that was committed: its SHA-256 differs");
  return verify_text(directory, *text);
}

Result<Manifest> verify(const std::string& directory) {
  const Result<std::string> text = manifest_text(directory);
  if (!text) return fail(text.error());
  return verify_text(without_slash(directory), *text);
}

Result<Manifest> read_manifest(const std::string& directory) {
  const Result<std::string> text = manifest_text(directory);
  if (!text) return fail(text.error());
  return from_json(*text);
}

Result<std::vector<std::string>> list(const std::string& store) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  std::error_code error;
  fs::directory_iterator entry(store, error), end;
  for (; !error && entry != end; entry.increment(error))
    if (const auto name = parse_directory_name(entry->path().filename().string()))
      found.emplace_back(name->sequence, entry->path().string());
  if (error) return fail(ErrorCode::not_found, "cannot read " + store + ": " + error.message());
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [sequence, path] : found) paths.push_back(std::move(path));
  return paths;
}

void remove_older(const std::string& store, std::uint64_t oldest_kept) {
  const Result<std::vector<std::string>> paths = list(store);
  if (!paths) return;
  for (const std::string& path : *paths) {
    const auto name = parse_directory_name(path.substr(path.rfind('/') + 1));
    std::error_code ignored;
    if (name && name->sequence < oldest_kept) fs::remove_all(path, ignored);
  }
}

}  // namespace ares::checkpoint
