// Signature Version 4 of AWS: how a request to S3 proves that its sender has the secret key. After "Authenticating
// Requests (AWS Signature Version 4)" of the S3 API reference. Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace ares::checkpoint::s3 {

struct Credentials {
  std::string key_id;
  std::string secret;
  std::string session_token;  // empty = the key is not a temporary one
};

// Where a signature counts.
struct Scope {
  std::string region;
  std::string service = "s3";
};

using Parameters = std::vector<std::pair<std::string, std::string>>;  // not encoded, in any order
using Headers = std::map<std::string, std::string>;                   // by name in lower case

struct Request {
  std::string method = "GET";
  std::string path = "/";  // not encoded
  Parameters query;
  Headers headers;  // all of them are signed; `host` is among them
};

inline constexpr const char* kSha256OfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Everything but letters, digits and -._~ as %XX; also '/' unless it is to be kept.
std::string uri_encode(std::string_view text, bool keep_slash);

// The query as it is sent and as it is signed: encoded, sorted.
std::string canonical_query(const Parameters& query);

// `payload_sha256`: 64 hexadecimal digits.
std::string canonical_request(const Request& request, const std::string& payload_sha256);

// The value of x-amz-date: 20130524T000000Z.
std::string amz_date(Time at);

// The value of the header Authorization. `date` is that of amz_date().
std::string authorization(const Request& request, const std::string& payload_sha256,
                          const std::string& date, const Scope& scope,
                          const Credentials& credentials);

}  // namespace ares::checkpoint::s3
