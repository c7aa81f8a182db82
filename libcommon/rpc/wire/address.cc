#include "rpc/wire/address.h"

#include <sys/un.h>

#include <charconv>

#include "base/printable.h"

namespace ares::rpc {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";
constexpr std::string_view kCalls = ".call";

tl::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(ErrorCode::invalid_argument, "address " + quote(text) + ": " + std::string(why));
}

Result<Address> parse_unix(std::string_view text, std::string_view path) {
  if (!path.starts_with('/')) return wrong(text, "the path must be absolute: unix:/run/name.sock");
  // One byte is for the final NUL.
  constexpr std::size_t kMax = sizeof(sockaddr_un::sun_path) - 1 - kCalls.size();
  if (path.size() > kMax)
    return wrong(text, "the path has " + std::to_string(path.size()) +
                           " characters; a socket's may have " + std::to_string(kMax));
  if (path.find('\0') != std::string_view::npos) return wrong(text, "the path contains a NUL");
  return Address{.kind = Address::Kind::unix_socket, .path = std::string(path), .host = {}};
}

Result<Address> parse_tcp(std::string_view text, std::string_view rest) {
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == rest.size())
    return wrong(text, "there is no port: tcp:host:7117");
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return wrong(text, "write a numeric IPv6 address in brackets: tcp:[::1]:7117");
  if (host.empty() || host.find_first_of(" \t\n[]/") != std::string_view::npos)
    return wrong(text, "there is no host name: tcp:host:7117");
  const std::string_view digits = rest.substr(colon + 1);
  Address address{.kind = Address::Kind::tcp, .path = {}, .host = std::string(host)};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, address.port);
  if (error != std::errc{} || stop != end)
    return wrong(text, "the port must be a number from 0 to 65535");
  return address;
}

}  // namespace

std::string call_socket(const Address& address) {
  return address.path + std::string(kCalls);
}

Result<Address> parse_address(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_unix(text, text.substr(kUnix.size()));
  if (text.starts_with(kTcp)) return parse_tcp(text, text.substr(kTcp.size()));
  return wrong(text, "write unix:/path or tcp:host:port");
}

std::string to_string(const Address& address) {
  if (address.kind == Address::Kind::unix_socket) return std::string(kUnix) + address.path;
  const bool brackets = address.host.find(':') != std::string::npos;
  return std::string(kTcp) + (brackets ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(address.port);
}

}  // namespace ares::rpc
