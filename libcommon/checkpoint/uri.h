// URIs of checkpoints and of the places that hold them. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ares::checkpoint {

// "s3" of s3://bucket/x; "" of a path.
std::string_view scheme_of(std::string_view uri);

// The last part of a URI, such as 000007.2.
std::string_view name_of(std::string_view uri);

// Keeps the URIs whose last part is the name of a checkpoint, oldest first.
std::vector<std::string> in_order(std::vector<std::string> uris);

}  // namespace ares::checkpoint
