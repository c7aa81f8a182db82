#include "checkpoint/s3/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "base/printable.h"
#include "checkpoint/s3/transfer.h"
#include "checkpoint/tree.h"
#include "checkpoint/uri.h"
#include "node/checkpoint_fields.h"
#include "os/fd.h"

namespace ares::checkpoint::s3 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kScheme = "s3://";
constexpr std::size_t kLongestKey = 1024;  // as S3 allows

bool is_bucket(std::string_view name) {
  return name.size() >= 3 && name.size() <= 63 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
         });
}

ObjectName inner(const ObjectName& checkpoint, std::string_view name) {
  return {checkpoint.bucket, checkpoint.key + "/" + std::string(name)};
}

std::string text_of(const ObjectName& object) {
  return std::string(kScheme) + object.bucket + "/" + object.key;
}

// The name of a checkpoint that a key or prefix of a listing has behind `place`; none: another thing.
std::optional<DirectoryName> checkpoint_in(std::string_view prefix, std::string_view place) {
  prefix.remove_prefix(place.size());
  return parse_directory_name(prefix.substr(0, prefix.find('/')));
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(os::errno_error("cannot write " + path));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<os::Fd> create(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  os::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return fail(os::errno_error("cannot create " + path));
  return file;
}

}  // namespace

Result<ObjectName> parse_uri(const std::string& uri) {
  const auto wrong = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, quote(uri) + why);
  };
  if (!uri.starts_with(kScheme)) return wrong(" is not of the form s3://BUCKET/PREFIX");
  const std::string rest = without_slash(uri.substr(kScheme.size()));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  ObjectName name{rest.substr(0, slash), rest.substr(std::min(slash + 1, rest.size()))};
  if (!is_bucket(name.bucket))
    return wrong(": the bucket has a name that none can have: 3 to 63 of a-z, 0-9, . and -");
  if (name.key.empty()) return wrong(" has no prefix behind the bucket: s3://BUCKET/PREFIX");
  if (has_control(name.key) || !is_utf8(name.key) ||
      ("/" + name.key + "/").find("//") != std::string::npos ||
      ("/" + name.key + "/").find("/./") != std::string::npos ||
      ("/" + name.key + "/").find("/../") != std::string::npos)
    return wrong(": the prefix has an empty part, a part . or .., or control characters");
  if (name.key.size() > kLongestKey) return wrong(" is too long");
  return name;
}

Status Store::prepare(const std::string& place) {
  const Result<ObjectName> name = parse_uri(place);
  if (!name) return fail(name.error());
  return {};
}

Status Store::publish(const std::string& directory, const std::string& uri,
                      const std::string& text) {
  const Result<ObjectName> checkpoint = parse_uri(uri);
  if (!checkpoint) return fail(checkpoint.error());
  const Result<Manifest> manifest = from_json(text);
  if (!manifest) return fail(manifest.error());
  for (const ManifestFile& file : manifest->files)
    if (inner(*checkpoint, file.path).key.size() > kLongestKey)
      return fail(ErrorCode::failed_precondition,
                  quote(file.path) + " has too long a name: S3 allows keys of 1024 bytes");
  // Its files would be replaced below.
  const Result<bool> published = client_.exists(inner(*checkpoint, kManifestName));
  if (!published) return fail(published.error());
  if (*published) return fail(ErrorCode::already_exists, uri + " is published already");
  const auto upload_all = [&]() -> Status {
    for (const ManifestFile& file : manifest->files)
      if (Status done = upload(client_, without_slash(directory) + "/" + file.path,
                               inner(*checkpoint, file.path), file.content);
          !done)
        return done;
    return client_.put_if_absent(inner(*checkpoint, kManifestName), text,
                                 node::hex_of(digest_of_text(text)));
  };
  Status done = upload_all();
  // What another attempt has published stays. What cannot be removed now is older than the next ones soon.
  if (!done && done.error().code != ErrorCode::already_exists &&
      done.error().code != ErrorCode::unavailable)
    (void)remove_checkpoint(*checkpoint);
  return done;
}

Status Store::withdraw(const std::string& uri, const std::string&) {
  const Result<ObjectName> checkpoint = parse_uri(uri);
  if (!checkpoint) return fail(checkpoint.error());
  return remove_checkpoint(*checkpoint);
}

Result<std::string> Store::read(const std::string& uri) {
  const Result<ObjectName> checkpoint = parse_uri(uri);
  if (!checkpoint) return fail(checkpoint.error());
  return client_.get(inner(*checkpoint, kManifestName), kLongestManifest);
}

Result<std::string> Store::read_committed(const ObjectName& checkpoint,
                                          const std::optional<Digest>& digest) {
  Result<std::string> text = client_.get(inner(checkpoint, kManifestName), kLongestManifest);
  if (text && digest && digest_of_text(*text) != *digest)
    return fail(ErrorCode::data_loss,
                text_of(inner(checkpoint, kManifestName)) +
                    " is not the one that was committed: its SHA-256 differs");
  return text;
}

Result<std::string> Store::verify(const std::string& uri, const std::optional<Digest>& digest) {
  const Result<ObjectName> checkpoint = parse_uri(uri);
  if (!checkpoint) return fail(checkpoint.error());
  Result<std::string> text = read_committed(*checkpoint, digest);
  if (!text) return text;
  const Result<Manifest> manifest = from_json(*text);
  if (!manifest) return fail(manifest.error());
  std::set<std::string> known{inner(*checkpoint, kManifestName).key};
  for (const ManifestFile& file : manifest->files) {
    const ObjectName object = inner(*checkpoint, file.path);
    known.insert(object.key);
    if (Status intact =
            download(client_, object, file.content, [](std::string_view) { return Status(); });
        !intact)
      return fail(intact.error());
  }
  const Result<std::vector<std::string>> keys = client_.list(inner(*checkpoint, ""), false);
  if (!keys) return fail(keys.error());
  for (const std::string& key : *keys)
    if (!known.contains(key))
      return fail(ErrorCode::data_loss,
                  text_of({checkpoint->bucket, key}) + " was added after the checkpoint was made");
  return text;
}

Status Store::fetch(const std::string& uri, const std::optional<Digest>& digest,
                    const std::string& given) {
  const Result<ObjectName> checkpoint = parse_uri(uri);
  if (!checkpoint) return fail(checkpoint.error());
  const Result<std::string> text = read_committed(*checkpoint, digest);
  if (!text) return fail(text.error());
  const Result<Manifest> manifest = from_json(*text);
  if (!manifest) return fail(manifest.error());
  const std::string directory = without_slash(given);
  std::error_code error;
  if (!fs::create_directory(directory, error))
    return fail(ErrorCode::failed_precondition, "cannot make directory " + directory + ": " +
                                                    (error ? error.message() : "it exists"));
  const auto copy = [&]() -> Status {
    for (const ManifestFile& file : manifest->files) {
      const std::string path = directory + "/" + file.path;
      const Result<os::Fd> to = create(path);
      if (!to) return fail(to.error());
      if (Status done =
              download(client_, inner(*checkpoint, file.path), file.content,
                       [&](std::string_view part) { return write_all(to->get(), part, path); });
          !done)
        return done;
    }
    const std::string path = directory + "/" + kManifestName;
    const Result<os::Fd> to = create(path);
    if (!to) return fail(to.error());
    return write_all(to->get(), *text, path);
  };
  Status done = copy();
  if (!done) fs::remove_all(directory, error);
  return done;
}

Result<std::vector<std::string>> Store::list(const std::string& place) {
  const Result<ObjectName> name = parse_uri(place);
  if (!name) return fail(name.error());
  const ObjectName within = inner(*name, "");
  const Result<std::vector<std::string>> prefixes = client_.list(within, true);
  if (!prefixes) return fail(prefixes.error());
  std::vector<std::string> uris;
  for (const std::string& prefix : *prefixes) {
    if (!checkpoint_in(prefix, within.key)) continue;
    const ObjectName checkpoint{name->bucket, without_slash(prefix)};
    const Result<bool> published = client_.exists(inner(checkpoint, kManifestName));
    if (!published) return fail(published.error());
    if (*published) uris.push_back(text_of(checkpoint));
  }
  return in_order(std::move(uris));
}

Status Store::remove_older(const std::string& place, std::uint64_t oldest_kept) {
  const Result<ObjectName> name = parse_uri(place);
  if (!name) return fail(name.error());
  const ObjectName within = inner(*name, "");
  const Result<std::vector<std::string>> prefixes = client_.list(within, true);
  if (!prefixes) return fail(prefixes.error());
  Status done;
  for (const std::string& prefix : *prefixes) {
    const auto found = checkpoint_in(prefix, within.key);
    if (!found || found->sequence >= oldest_kept) continue;
    if (Status removed = remove_checkpoint({name->bucket, without_slash(prefix)}); !removed) {
      if (removed.error().code == ErrorCode::unavailable) return removed;  // so would be the next
      done = removed;
    }
  }
  return done;
}

// The manifest first: then nothing that is half removed counts as a checkpoint.
Status Store::remove_checkpoint(const ObjectName& checkpoint) {
  if (Status removed = client_.remove(inner(checkpoint, kManifestName)); !removed) return removed;
  const Result<std::vector<std::string>> keys = client_.list(inner(checkpoint, ""), false);
  if (!keys) return fail(keys.error());
  for (const std::string& key : *keys)
    if (Status removed = client_.remove({checkpoint.bucket, key}); !removed) return removed;
  return {};
}

}  // namespace ares::checkpoint::s3
