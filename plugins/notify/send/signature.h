// How a receiver knows that a request of a webhook comes from this site. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace ares::notify {

// "sha256=" and the HMAC-SHA256 (RFC 2104) of the body under the secret in 64 hexadecimal digits.
std::string signature(std::string_view secret, std::string_view body);

}  // namespace ares::notify
