// What S3 servers answer, as values, and what they are sent. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::checkpoint::s3 {

// A page of ListObjectsV2.
struct Listing {
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;  // with the delimiter at their end
  std::string next;                   // continuation token; empty = the last page
};
Result<Listing> parse_listing(std::string_view xml);

// Of CreateMultipartUpload.
Result<std::string> parse_upload_id(std::string_view xml);

struct ErrorReply {
  std::string code;     // as "NoSuchKey"; letters and digits
  std::string message;  // fit for a terminal, short; the server may give none
};
// None: it is not the XML of an error. Other elements of it may repeat what was signed, and are never used.
std::optional<ErrorReply> parse_error(std::string_view xml);

// Whether it is the answer to CompleteMultipartUpload that tells of success.
bool is_completed(std::string_view xml);

// The body of CompleteMultipartUpload; ETags of the parts from the first on, as the server gave them.
std::string complete_body(const std::vector<std::string>& etags);

}  // namespace ares::checkpoint::s3
