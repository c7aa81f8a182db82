// Places in which checkpoints can be kept, as users write them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace ares {

// What is wrong with it; empty: it is an absolute path or s3://BUCKET/PREFIX.
std::string wrong_checkpoint_place(std::string_view place);

inline bool is_checkpoint_place(std::string_view place) {
  return wrong_checkpoint_place(place).empty();
}

// It is a URI, not a path.
bool is_checkpoint_uri(std::string_view place);

}  // namespace ares
