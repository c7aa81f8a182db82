// The form of a container image's name. A pure function; any thread.
#pragma once

#include <string_view>

namespace ares {

// "registry:5000/path/name:tag@sha256:...": the characters that such a name may have, and no '-' at its
// beginning. Whether there is such an image is for the node to find out.
bool is_image_name(std::string_view name);

}  // namespace ares
