#include "checkpoint/s3/transport.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::checkpoint::s3 {
namespace {

constexpr long kConnectTimeout = 10;
constexpr std::size_t kMostHeaders = 100;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Receiver {
  HttpAnswer answer;
  std::size_t most;
  bool too_long = false;
};

std::size_t take_body(char* data, std::size_t, std::size_t size, void* to) {
  Receiver& receiver = *static_cast<Receiver*>(to);
  if (size > receiver.most - receiver.answer.body.size()) {
    receiver.too_long = true;
    return 0;
  }
  receiver.answer.body.append(data, size);
  return size;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* to) {
  Receiver& receiver = *static_cast<Receiver*>(to);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) receiver.answer.headers.clear();  // those of "100 Continue"
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || receiver.answer.headers.size() >= kMostHeaders)
    return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  line.remove_prefix(colon + 1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  receiver.answer.headers.insert_or_assign(std::move(name), std::string(line));
  return size;
}

// Failures after which the same request may succeed.
bool is_worth_another_try(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WRITE_ERROR: return false;
    default: return true;
  }
}

}  // namespace

Result<CurlTransport> CurlTransport::open(const std::string& ca_file, std::uint32_t timeout_s) {
  CURL* const curl = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : nullptr;
  if (!curl) return fail(ErrorCode::failed_precondition, "libcurl cannot be used");
  CurlTransport transport(curl);
  transport.ca_file_ = ca_file;
  transport.timeout_s_ = timeout_s;
  return transport;
}

CurlTransport::CurlTransport(CurlTransport&& other) noexcept
    : curl_(std::exchange(other.curl_, nullptr)),
      ca_file_(std::move(other.ca_file_)),
      timeout_s_(other.timeout_s_) {}

CurlTransport::~CurlTransport() {
  if (curl_) curl_easy_cleanup(curl_);
}

Result<HttpAnswer> CurlTransport::send(const HttpRequest& request) {
  CURL* const curl = curl_;
  curl_easy_reset(curl);
  std::unique_ptr<curl_slist, FreeList> headers;
  const auto add_header = [&](const std::string& line) {
    if (curl_slist* const longer = curl_slist_append(headers.get(), line.c_str())) {
      (void)headers.release();
      headers.reset(longer);
    }
  };
  for (const std::string& line : request.headers) add_header(line);
  // Not those of libcurl, which are not signed: one for forms, and one that costs a round trip.
  add_header("Content-Type:");
  add_header("Expect:");

  Receiver receiver{{}, request.most_of_answer};
  std::array<char, CURL_ERROR_SIZE> error{};
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  if (!ca_file_.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file_.c_str());
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectTimeout);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(timeout_s_));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error.data());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &receiver);
  if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data() ? request.body.data() : "");
  }
  if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());

  const CURLcode code = curl_easy_perform(curl);
  if (receiver.too_long)
    return fail(ErrorCode::failed_precondition, "the S3 server's answer is too long");
  if (code != CURLE_OK)
    return fail(
        is_worth_another_try(code) ? ErrorCode::unavailable : ErrorCode::failed_precondition,
        printable(clip(error[0] ? std::string(error.data()) : curl_easy_strerror(code))));
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &receiver.answer.status);
  return std::move(receiver.answer);
}

}  // namespace ares::checkpoint::s3
