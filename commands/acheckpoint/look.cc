#include "acheckpoint/look.h"

#include <cstdio>
#include <filesystem>

#include "acheckpoint/places.h"
#include "base/printable.h"
#include "checkpoint/manifest.h"
#include "checkpoint/uri.h"

namespace ares::acheckpoint {
namespace {

// A path in full, as plugins get it, because its directory may be ".".
std::string in_full(const std::string& uri) {
  return checkpoint::scheme_of(uri).empty() ? std::filesystem::absolute(uri).string() : uri;
}

void print_line(const std::string& uri, const checkpoint::Manifest& manifest) {
  std::string fields;
  for (const auto& [name, value] : manifest.fields) fields += " " + name + "=" + value;
  std::printf("%s sequence=%llu attempt=%u files=%zu bytes=%lld%s\n", printable(uri).c_str(),
              static_cast<unsigned long long>(manifest.sequence), manifest.attempt,
              manifest.files.size(), static_cast<long long>(manifest.size().value()),
              printable(fields).c_str());
}

}  // namespace

Result<int> list(const Wanted& wanted, const std::string& given) {
  const Result<Place> place = Place::of(given, wanted.common.config);
  if (!place) return fail(place.error());
  const auto uris = (*place)->list(given);
  if (!uris) return fail(uris.error());
  for (const std::string& uri : *uris) {
    const auto text = (*place)->read(uri);
    if (!text && text.error().code == ErrorCode::unavailable) return fail(text.error());
    const auto manifest = text.and_then(checkpoint::from_json);
    if (manifest)
      print_line(uri, *manifest);
    else
      std::printf("%s damaged: %s\n", printable(uri).c_str(),
                  printable(manifest.error().message).c_str());
  }
  return 0;
}

Result<int> verify(const Wanted& wanted, const std::vector<std::string>& uris) {
  if (uris.empty())
    return fail(ErrorCode::invalid_argument,
                "name the directory or the URI of a checkpoint: acheckpoint verify DIR");
  int status = 0;
  for (const std::string& uri : uris) {
    const Result<Place> place = Place::of(uri, wanted.common.config);
    const Status intact = place.and_then([&](const Place& p) -> Status {
      const auto manifest = p->verify(uri, wanted.digest);
      return manifest ? Status() : Status(fail(manifest.error()));
    });
    if (!intact && intact.error().code == ErrorCode::unavailable) return fail(intact.error());
    if (!intact) {
      std::fprintf(stderr, "acheckpoint: %s\n", printable(intact.error().message).c_str());
      status = 1;
    } else if (!wanted.quiet) {
      std::printf("%s is intact\n", printable(uri).c_str());
    }
  }
  return status;
}

Result<int> fetch(const Wanted& wanted, const std::string& uri, const std::string& directory) {
  const Result<Place> place = Place::of(uri, wanted.common.config);
  if (!place) return fail(ErrorCode::unavailable, place.error().message);
  const std::string to = std::filesystem::absolute(directory).string();
  if (const Status done = (*place)->fetch(in_full(uri), wanted.digest, to); !done) {
    const ErrorCode code = done.error().code;
    if (code == ErrorCode::data_loss || code == ErrorCode::not_found) return fail(done.error());
    // It may be intact: the job must not begin from an older one.
    return fail(ErrorCode::unavailable, done.error().message);
  }
  if (!wanted.quiet)
    std::printf("%s is intact and copied to %s\n", printable(uri).c_str(),
                printable(directory).c_str());
  return 0;
}

}  // namespace ares::acheckpoint
