#include "checkpoint/file/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "checkpoint/manifest.h"
#include "checkpoint/tree.h"
#include "checkpoint/uri.h"
#include "os/file.h"

namespace ares::checkpoint::file {
namespace {

namespace fs = std::filesystem;

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

Status verify_files(const std::string& directory, const std::string& text) {
  const Result<Manifest> manifest = from_json(text);
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
  return {};
}

// Not durable. The manifest is copied last.
Status copy_files(const std::string& from, const std::string& to, const std::string& manifest) {
  const Result<Manifest> known = from_json(manifest);
  if (!known) return fail(known.error());
  std::error_code error;
  if (!fs::create_directory(to, error))
    return fail(ErrorCode::failed_precondition,
                "cannot make directory " + to + ": " + (error ? error.message() : "it exists"));
  for (const ManifestFile& file : known->files) {
    const fs::path target = fs::path(to) / file.path;
    fs::create_directories(target.parent_path(), error);
    if (!error) fs::copy_file(fs::path(from) / file.path, target, error);
    if (error) return cannot("cannot copy " + file.path + " to " + to, error.value());
  }
  return write_manifest(to, manifest);
}

}  // namespace

Status FileStore::prepare(const std::string& place) {
  return os::make_directories(place, 0700);
}

Status FileStore::publish(const std::string& given, const std::string& path,
                          const std::string& manifest) {
  const std::string from = without_slash(given);
  const std::string place = path.substr(0, path.rfind('/'));
  const Result<Tree> tree = look_at(from);
  if (!tree) return fail(tree.error());
  if (Status written = write_manifest(from, manifest); !written) return fail(written.error());
  for (auto directory = tree->directories.rbegin(); directory != tree->directories.rend();
       ++directory)
    if (Status synced = sync_directory(*directory); !synced) return fail(synced.error());
  if (::rename(from.c_str(), path.c_str()) != 0) {
    const int error = errno;
    if (error == EXDEV)
      return fail(ErrorCode::failed_precondition,
                  from + " is on another file system than " + place +
                      ": write checkpoints to a directory within it");
    return cannot("cannot publish " + from + " as " + path, error);
  }
  if (Status synced = sync_directory(place); !synced) {
    (void)::rename(path.c_str(), from.c_str());  // as if nothing had been done
    return fail(synced.error());
  }
  return {};
}

Status FileStore::withdraw(const std::string& path, const std::string& directory) {
  if (::rename(path.c_str(), without_slash(directory).c_str()) != 0)
    return cannot("cannot rename " + path + " to " + directory);
  return {};
}

Result<std::string> FileStore::read(const std::string& path) {
  return manifest_text(without_slash(path));
}

Result<std::string> FileStore::verify(const std::string& given,
                                      const std::optional<Digest>& digest) {
  const std::string path = without_slash(given);
  Result<std::string> text = manifest_text(path);
  if (!text) return text;
  if (digest && digest_of_text(*text) != *digest)
    return fail(
        ErrorCode::data_loss,
        path + "/" + kManifestName + " is not the one that was committed: its SHA-256 differs");
  if (Status intact = verify_files(path, *text); !intact) return fail(intact.error());
  return text;
}

Status FileStore::fetch(const std::string& path, const std::optional<Digest>& digest,
                        const std::string& directory) {
  const Result<std::string> text = verify(path, digest);
  if (!text) return fail(text.error());
  const std::string to = without_slash(directory);
  const bool was_there = fs::symlink_status(to).type() != fs::file_type::not_found;
  Status done = copy_files(without_slash(path), to, *text);
  if (done) {  // as it is now: the other may have changed meanwhile
    if (const Result<std::string> copied = verify(to, digest); !copied) done = fail(copied.error());
  }
  std::error_code ignored;
  if (!done && !was_there) fs::remove_all(to, ignored);
  return done;
}

Result<std::vector<std::string>> FileStore::list(const std::string& place) {
  std::vector<std::string> paths;
  std::error_code error;
  fs::directory_iterator entry(place, error), end;
  for (; !error && entry != end; entry.increment(error)) paths.push_back(entry->path().string());
  if (error) return fail(ErrorCode::not_found, "cannot read " + place + ": " + error.message());
  return in_order(std::move(paths));
}

Status FileStore::remove_older(const std::string& place, std::uint64_t oldest_kept) {
  const Result<std::vector<std::string>> paths = list(place);
  if (!paths) return fail(paths.error());
  Status done;
  for (const std::string& path : *paths) {
    if (parse_directory_name(name_of(path))->sequence >= oldest_kept) continue;
    std::error_code error;
    fs::remove_all(path, error);
    if (error) done = cannot("cannot remove " + path, error.value());
  }
  return done;
}

}  // namespace ares::checkpoint::file
