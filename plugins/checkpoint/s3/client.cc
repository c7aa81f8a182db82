#include "checkpoint/s3/client.h"

#include <algorithm>
#include <set>

#include "base/printable.h"
#include "checkpoint/digest.h"
#include "node/checkpoint_fields.h"

namespace ares::checkpoint::s3 {
namespace {

constexpr Duration kFirstDelay = std::chrono::milliseconds(250);
constexpr Duration kLongestDelay = std::chrono::seconds(10);
constexpr std::size_t kMostKeys = 1'000'000;
constexpr std::size_t kMostPages = 2000;
constexpr std::size_t kLongestEtag = 256;

std::string uri_of(const ObjectName& object) {
  return "s3://" + object.bucket + "/" + object.key;
}

bool is_temporary(const HttpAnswer& answer, const std::optional<ErrorReply>& error) {
  if (answer.status == 429 || answer.status == 408 || answer.status == 500 ||
      (answer.status >= 502 && answer.status <= 504))
    return true;
  static const std::set<std::string> kCodes = {"RequestTimeout",   "SlowDown",
                                               "InternalError",    "ServiceUnavailable",
                                               "OperationAborted", "ConditionalRequestConflict"};
  return error && kCodes.contains(error->code);
}

std::string described(const HttpAnswer& answer, const std::optional<ErrorReply>& error) {
  std::string text = "HTTP status " + std::to_string(answer.status);
  if (error) text += ", " + error->code;
  if (error && !error->message.empty()) text += ": " + error->message;
  return text;
}

Error refusal(const HttpAnswer& answer, const std::optional<ErrorReply>& error,
              const ObjectName& object, const Settings& settings) {
  const std::string what = uri_of(object) + " at " + settings.endpoint + ": ";
  const std::string why = described(answer, error);
  if (answer.status == 401 || answer.status == 403)
    return {ErrorCode::permission_denied,
            what + "the server refuses these credentials (" + why +
                "); look at ~/.aws/credentials, AWS_PROFILE, the region and the clock"};
  // Another 404, of a bucket or of a proxy, tells nothing about the object.
  if (answer.status == 404 && error &&
      (error->code == "NoSuchKey" || error->code == "NoSuchUpload"))
    return {ErrorCode::not_found, what + "it is not there (" + why + ")"};
  if (answer.status == 507 || (error && error->code == "QuotaExceeded"))
    return {ErrorCode::resource_exhausted, what + why};
  if (answer.status >= 300 && answer.status < 400)
    return {ErrorCode::failed_precondition,
            what + "the bucket is at another endpoint or in another region (" + why +
                "); set checkpoint.s3 in ares.yaml, or AWS_ENDPOINT_URL and AWS_REGION"};
  return {ErrorCode::failed_precondition, what + why};
}

}  // namespace

Client::Client(Settings settings, Credentials credentials, ClientParts parts)
    : settings_(std::move(settings)),
      credentials_(std::move(credentials)),
      parts_(std::move(parts)) {}

Result<HttpAnswer> Client::try_once(const Call& call) {
  Request request{call.method, "/" + call.object.bucket, call.query, call.headers};
  if (!call.object.key.empty()) request.path += "/" + call.object.key;
  const std::string date = amz_date(parts_.now());
  request.headers.insert_or_assign("host", settings_.host);
  request.headers.insert_or_assign("x-amz-date", date);
  request.headers.insert_or_assign("x-amz-content-sha256", call.sha256);
  if (!credentials_.session_token.empty())
    request.headers.insert_or_assign("x-amz-security-token", credentials_.session_token);
  HttpRequest http;
  http.method = call.method;
  http.url = settings_.endpoint + uri_encode(request.path, true);
  if (const std::string query = canonical_query(call.query); !query.empty())
    http.url += "?" + query;
  for (const auto& [name, value] : request.headers)
    if (name != "host") http.headers.push_back(name + ": " + value);
  http.headers.push_back("authorization: " + authorization(request, call.sha256, date,
                                                           {settings_.region}, credentials_));
  http.body = call.body;
  http.most_of_answer = call.most_of_answer;
  return parts_.transport->send(http);
}

Result<HttpAnswer> Client::run(const Call& call, const std::vector<long>& expected) {
  Duration delay = kFirstDelay;
  for (std::uint32_t attempt = 1;; ++attempt) {
    Result<HttpAnswer> answer = try_once(call);
    std::string why;
    if (!answer) {
      if (answer.error().code != ErrorCode::unavailable)
        return fail(answer.error().code, uri_of(call.object) + " at " + settings_.endpoint + ": " +
                                             answer.error().message);
      why = answer.error().message;
    } else {
      // CompleteMultipartUpload can fail with the status 200.
      const std::optional<ErrorReply> error = parse_error(answer->body);
      const bool good =
          answer->status >= 200 && answer->status < 300 && !(error && call.method == "POST");
      if (good || std::count(expected.begin(), expected.end(), answer->status) > 0) return answer;
      if (!is_temporary(*answer, error))
        return fail(refusal(*answer, error, call.object, settings_));
      why = described(*answer, error);
    }
    if (attempt > settings_.retries)
      return fail(ErrorCode::unavailable, uri_of(call.object) + " at " + settings_.endpoint +
                                              ": no success after " + std::to_string(attempt) +
                                              " tries: " + why);
    if (parts_.warn) parts_.warn(uri_of(call.object) + ": " + why + "; trying again");
    parts_.wait(delay);
    delay = std::min(2 * delay, kLongestDelay);
  }
}

Status Client::put(const ObjectName& object, std::string_view body, const std::string& sha256) {
  const Result<HttpAnswer> done =
      run({.method = "PUT", .object = object, .body = body, .sha256 = sha256});
  if (!done) return fail(done.error());
  return {};
}

Status Client::put_if_absent(const ObjectName& object, std::string_view body,
                             const std::string& sha256) {
  const auto taken = [&] {
    return fail(ErrorCode::already_exists, uri_of(object) + " is published already");
  };
  if (conditional_) {
    const Result<HttpAnswer> done = run({.method = "PUT",
                                         .object = object,
                                         .headers = {{"if-none-match", "*"}},
                                         .body = body,
                                         .sha256 = sha256},
                                        {412, 501});
    if (!done) return fail(done.error());
    if (done->status == 412) {
      // It may be this one: of a try whose answer was lost.
      const Result<std::string> there = get(object, body.size());
      if (there && *there == body) return {};
      return taken();
    }
    if (done->status != 501) return {};
    conditional_ = false;
  }
  const Result<bool> there = exists(object);
  if (!there) return fail(there.error());
  if (*there) return taken();
  return put(object, body, sha256);
}

Result<std::string> Client::get_part(const ObjectName& object, std::uint64_t offset,
                                     std::size_t size, std::uint64_t total) {
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    Result<std::string> part = get_part_once(object, offset, size, total);
    if (part || part.error().code != ErrorCode::unavailable || i == kTries) return part;
  }
}

Result<std::string> Client::get_part_once(const ObjectName& object, std::uint64_t offset,
                                          std::size_t size, std::uint64_t total) {
  const std::string range =
      "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + size - 1);
  Result<HttpAnswer> answer = run({.method = "GET",
                                   .object = object,
                                   .headers = {{"range", range}},
                                   .most_of_answer = std::max<std::size_t>(size, 1 << 16)},
                                  {416});
  if (!answer) return fail(answer.error());
  const bool whole = answer->status == 200 && offset == 0;
  const auto place = answer->headers.find("content-range");
  const bool longer = place != answer->headers.end() &&
                      !place->second.ends_with("/" + std::to_string(total)) &&
                      !place->second.ends_with("/*");
  const bool ended_early =
      answer->body.size() < size && !answer->headers.contains("content-length") && !longer;
  if (ended_early && answer->status != 416)
    return fail(ErrorCode::unavailable, uri_of(object) + ": the answer ended early");
  if ((answer->status != 206 && !whole) || answer->body.size() != size || longer)
    return fail(ErrorCode::data_loss, uri_of(object) + " is damaged: it has another size");
  return std::move(answer->body);
}

Result<std::string> Client::get(const ObjectName& object, std::size_t most) {
  Result<HttpAnswer> answer = run(
      {.method = "GET", .object = object, .most_of_answer = std::max<std::size_t>(most, 1 << 16)});
  if (!answer) return fail(answer.error());
  if (answer->body.size() > most)
    return fail(ErrorCode::failed_precondition, uri_of(object) + " is too long");
  return std::move(answer->body);
}

Result<bool> Client::exists(const ObjectName& object) {
  const Result<HttpAnswer> answer = run({.method = "HEAD", .object = object}, {404});
  if (!answer) return fail(answer.error());
  return answer->status != 404;
}

Status Client::remove(const ObjectName& object) {
  const Result<HttpAnswer> answer = run({.method = "DELETE", .object = object}, {404});
  if (!answer) return fail(answer.error());
  return {};
}

Result<std::vector<std::string>> Client::list(const ObjectName& prefix, bool folders) {
  std::vector<std::string> found;
  std::string token;
  std::set<std::string> tokens;
  for (;;) {
    Parameters query{{"list-type", "2"}, {"prefix", prefix.key}};
    if (folders) query.emplace_back("delimiter", "/");
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const Result<HttpAnswer> answer = run({.method = "GET",
                                           .object = {prefix.bucket, ""},
                                           .query = std::move(query),
                                           .most_of_answer = 8 << 20});
    if (!answer) return fail(answer.error());
    Result<Listing> page = parse_listing(answer->body);
    if (!page) return fail(page.error());
    for (std::string& name : folders ? page->prefixes : page->keys)
      if (name.starts_with(prefix.key)) found.push_back(std::move(name));
    token = page->next;
    if (token.empty()) return found;
    if (found.size() > kMostKeys || tokens.size() >= kMostPages || !tokens.insert(token).second)
      return fail(ErrorCode::failed_precondition,
                  uri_of(prefix) + ": the S3 server's list of objects does not end");
  }
}

Result<std::string> Client::begin_parts(const ObjectName& object) {
  const Result<HttpAnswer> answer =
      run({.method = "POST", .object = object, .query = {{"uploads", ""}}});
  if (!answer) return fail(answer.error());
  return parse_upload_id(answer->body);
}

Result<std::string> Client::put_part(const ObjectName& object, const std::string& upload,
                                     std::size_t number, std::string_view body,
                                     const std::string& sha256) {
  const Result<HttpAnswer> answer =
      run({.method = "PUT",
           .object = object,
           .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}},
           .body = body,
           .sha256 = sha256});
  if (!answer) return fail(answer.error());
  const auto etag = answer->headers.find("etag");
  if (etag == answer->headers.end() || etag->second.empty() || etag->second.size() > kLongestEtag ||
      has_control(etag->second))
    return fail(ErrorCode::failed_precondition,
                uri_of(object) + ": the S3 server gave no ETag for a part");
  return etag->second;
}

Status Client::complete_parts(const ObjectName& object, const std::string& upload,
                              const std::vector<std::string>& etags) {
  const std::string body = complete_body(etags);
  const Result<HttpAnswer> answer = run({.method = "POST",
                                         .object = object,
                                         .query = {{"uploadId", upload}},
                                         .body = body,
                                         .sha256 = node::hex_of(digest_of_text(body))});
  if (answer && is_completed(answer->body)) return {};
  // A try whose answer was lost may have completed it; then there is no such upload any more. Of a successful answer that is
  // not what it should be the object itself tells: no other upload has its key.
  if (answer || answer.error().code == ErrorCode::not_found) {
    const Result<bool> there = exists(object);
    if (there && *there) return {};
    if (!there) return fail(there.error());
  }
  if (!answer) return fail(answer.error());
  return fail(
      ErrorCode::unavailable,
      uri_of(object) + ": the S3 server answered the end of an upload, and it is not there");
}

Status Client::abort_parts(const ObjectName& object, const std::string& upload) {
  const Result<HttpAnswer> answer =
      run({.method = "DELETE", .object = object, .query = {{"uploadId", upload}}}, {404});
  if (!answer) return fail(answer.error());
  return {};
}

}  // namespace ares::checkpoint::s3
