// What the plugin is told: by the site in ares.yaml, and by the user in the variables and files that the tools of AWS
// know. Pure functions but for read_credentials(); any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "checkpoint/s3/sigv4.h"

namespace ares::checkpoint::s3 {

// A variable of the environment; none: it is not set, or empty.
using Variable = std::function<std::optional<std::string>(const char* name)>;

struct Settings {
  std::string endpoint;  // https://host[:port], without a slash at its end
  std::string host;      // of the endpoint, with its port unless that is the scheme's
  std::string region;
  std::string ca_file;  // empty = the system's
  std::size_t part_size = 16 << 20;
  std::uint32_t retries = 5;
  std::uint32_t timeout_s = 30;  // without a byte from the server
};

// `options`: `key value` lines, made from the section checkpoint.s3 of ares.yaml. failed_precondition: no endpoint, or one that
// the site does not allow.
Result<Settings> read_settings(std::string_view options, const Variable& variable);

// The profile of a file in the format of ~/.aws/credentials.
Result<Credentials> parse_credentials(std::string_view text, std::string_view profile);

// The variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or else the file of AWS_SHARED_CREDENTIALS_FILE or
// ~/.aws/credentials, which no user but its owner, this one, may read. permission_denied: neither has credentials.
Result<Credentials> read_credentials(const Variable& variable);

}  // namespace ares::checkpoint::s3
