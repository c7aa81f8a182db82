#include "checkpoint/s3/replies.h"

#include <algorithm>

#include "base/clip.h"
#include "base/printable.h"
#include "checkpoint/s3/xml.h"

namespace ares::checkpoint::s3 {
namespace {

constexpr std::size_t kLongestKey = 1024;  // as S3 allows
constexpr std::size_t kLongestToken = 8192;
constexpr std::size_t kMostOfPage = 10'000;
constexpr std::size_t kLongestCode = 64;

tl::unexpected<Error> wrong(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "the S3 server's answer is wrong: " + what);
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

}  // namespace

Result<Listing> parse_listing(std::string_view xml) {
  Listing listing;
  bool truncated = false, too_long = false, listed = false;
  const auto add = [&](std::vector<std::string>& to, const std::string& value) {
    too_long = too_long || value.size() > kLongestKey || to.size() >= kMostOfPage;
    if (!too_long) to.push_back(value);
  };
  const Status read = read_xml(xml, [&](std::string_view path, const std::string& value) {
    if (path == "ListBucketResult") listed = true;
    if (path == "ListBucketResult/Contents/Key") add(listing.keys, value);
    if (path == "ListBucketResult/CommonPrefixes/Prefix") add(listing.prefixes, value);
    if (path == "ListBucketResult/IsTruncated") truncated = value == "true";
    if (path == "ListBucketResult/NextContinuationToken") listing.next = value;
  });
  if (!read) return wrong(read.error().message);
  if (!listed) return wrong("it is not a list of objects");
  if (too_long || listing.next.size() > kLongestToken)
    return wrong("a list of objects is too long");
  if (truncated && listing.next.empty()) return wrong("a list of objects has no end");
  if (!truncated) listing.next.clear();
  return listing;
}

Result<std::string> parse_upload_id(std::string_view xml) {
  std::string id;
  const Status read = read_xml(xml, [&](std::string_view path, const std::string& value) {
    if (path == "InitiateMultipartUploadResult/UploadId") id = value;
  });
  if (!read) return wrong(read.error().message);
  if (id.empty() || id.size() > kLongestToken) return wrong("it has no upload id");
  return id;
}

std::optional<ErrorReply> parse_error(std::string_view xml) {
  ErrorReply reply;
  const Status read = read_xml(xml, [&](std::string_view path, const std::string& value) {
    if (path == "Error/Code") reply.code = value;
    if (path == "Error/Message") reply.message = value;
  });
  if (!read || !is_word(reply.code) || reply.code.size() > kLongestCode) return std::nullopt;
  reply.message = printable(clip(reply.message));
  return reply;
}

bool is_completed(std::string_view xml) {
  bool completed = false;
  const Status read = read_xml(xml, [&](std::string_view path, const std::string&) {
    completed = completed || path.starts_with("CompleteMultipartUploadResult/");
  });
  return read && completed;
}

std::string complete_body(const std::vector<std::string>& etags) {
  std::string body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < etags.size(); ++i)
    body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
            xml_escaped(etags[i]) + "</ETag></Part>";
  return body + "</CompleteMultipartUpload>";
}

}  // namespace ares::checkpoint::s3
