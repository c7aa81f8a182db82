#include "model/job/checkpoint_place.h"

#include <algorithm>

namespace ares {
namespace {

constexpr std::string_view kS3 = "s3://";
// The longest key of an object, less the job's id, the name of a checkpoint and a short name of a file.
constexpr std::size_t kLongestPrefix = 900;

std::string wrong_prefix(std::string_view prefix) {
  if (prefix.empty()) return "has no prefix behind the bucket: write s3://BUCKET/PREFIX";
  if (prefix.size() > kLongestPrefix) return "has a prefix of more than 900 bytes";
  for (;;) {
    const std::size_t slash = prefix.find('/');
    const std::string_view part = prefix.substr(0, slash);
    if (part.empty() || part == "." || part == "..")
      return "has a prefix with an empty part, or a part . or ..";
    if (slash == std::string_view::npos) return {};
    prefix.remove_prefix(slash + 1);
  }
}

}  // namespace

bool is_checkpoint_uri(std::string_view place) {
  return place.find("://") != std::string_view::npos && !place.starts_with('/');
}

std::string wrong_checkpoint_place(std::string_view place) {
  if (place.starts_with('/')) return {};
  if (!place.starts_with(kS3)) return "is neither a directory nor of the form s3://BUCKET/PREFIX";
  place.remove_prefix(kS3.size());
  const std::size_t slash = std::min(place.find('/'), place.size());
  const std::string_view bucket = place.substr(0, slash);
  const bool plain = std::all_of(bucket.begin(), bucket.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  });
  if (bucket.size() < 3 || bucket.size() > 63 || !plain || bucket.front() == '.' ||
      bucket.front() == '-')
    return "names a bucket that cannot be: 3 to 63 of a-z, 0-9, . and -";
  return wrong_prefix(place.substr(std::min(slash + 1, place.size())));
}

}  // namespace ares
