#include "checkpoint/uri.h"

#include <algorithm>
#include <tuple>

#include "checkpoint/manifest.h"

namespace ares::checkpoint {

std::string_view scheme_of(std::string_view uri) {
  const std::size_t end = uri.find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view scheme = uri.substr(0, end);
  const bool plain = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
  return plain ? scheme : std::string_view();
}

std::string_view name_of(std::string_view uri) {
  return uri.substr(uri.rfind('/') + 1);  // all of it if there is no slash
}

std::vector<std::string> in_order(std::vector<std::string> uris) {
  std::erase_if(uris, [](const std::string& uri) { return !parse_directory_name(name_of(uri)); });
  std::sort(uris.begin(), uris.end(), [](const std::string& a, const std::string& b) {
    const auto left = parse_directory_name(name_of(a)), right = parse_directory_name(name_of(b));
    return std::tie(left->sequence, left->attempt) < std::tie(right->sequence, right->attempt);
  });
  return uris;
}

}  // namespace ares::checkpoint
