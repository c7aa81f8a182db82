// The form of names of Kubernetes' objects. A pure function; any thread.
#pragma once

#include <string_view>

namespace ares::kubernetes {

// Whether it is an RFC 1123 subdomain of at most 253 characters, as names of objects are.
bool is_object_name(std::string_view text);

}  // namespace ares::kubernetes
