// Base64 as kubeconfigs and Secrets contain it (RFC 4648, section 4). Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ares::kubernetes {

std::string encode_base64(std::string_view bytes);

// White space is skipped. None: it is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace ares::kubernetes
