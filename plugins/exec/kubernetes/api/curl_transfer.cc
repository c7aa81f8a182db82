#include "exec/kubernetes/api/curl_transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::kubernetes {
namespace {

constexpr long kConnectTimeoutMs = 10'000;
constexpr std::size_t kMostHeaders = 100;
// More of a stream within one round of the event loop than this is not received before it has been delivered.
constexpr std::size_t kMostFresh = std::size_t{16} << 20;

// Failures that another try does not change.
bool is_final(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WRITE_ERROR: return true;
    default: return false;
  }
}

// A connection whose peer does not acknowledge what was sent to it is ended after this time, and not after a quarter of an hour.
int set_user_timeout(void*, curl_socket_t socket, curlsocktype) {
  const unsigned milliseconds = 30'000;
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  return CURL_SOCKOPT_OK;
}

curl_blob blob_of(const std::string& text) {
  // libcurl does not change it. The request outlives the transfer.
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
}

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

}  // namespace

void CurlTransfer::add_header(const std::string& line) {
  if (curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str())) {
    (void)headers_.release();
    headers_.reset(longer);
  }
}

// With another name for the certificate, libcurl is told that name and to connect to the host nevertheless; the header Host
// still names the host.
bool CurlTransfer::set_url() {
  if (request_.tls_server_name.empty())
    return curl_easy_setopt(easy(), CURLOPT_URL, request_.url.c_str()) == CURLE_OK;
  std::unique_ptr<CURLU, FreeUrl> url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, request_.url.c_str(), 0) != CURLUE_OK)
    return false;
  const std::string host = part_of(url.get(), CURLUPART_HOST);
  const std::string port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  add_header("Host: " + host + ":" + port);
  if (curl_url_set(url.get(), CURLUPART_HOST, request_.tls_server_name.c_str(), 0) != CURLUE_OK)
    return false;
  connect_to_.reset(curl_slist_append(nullptr, ("::" + host + ":" + port).c_str()));
  curl_easy_setopt(easy(), CURLOPT_CONNECT_TO, connect_to_.get());
  return curl_easy_setopt(easy(), CURLOPT_URL, part_of(url.get(), CURLUPART_URL).c_str()) ==
         CURLE_OK;
}

void CurlTransfer::set_tls() {
  curl_easy_setopt(easy(), CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy(), CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy(), CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!request_.ca_pem.empty()) {
    curl_blob authority = blob_of(request_.ca_pem);
    curl_easy_setopt(easy(), CURLOPT_CAINFO_BLOB, &authority);
    curl_easy_setopt(easy(), CURLOPT_CAPATH, nullptr);  // and no others
  }
  if (request_.certificate_pem.empty()) return;
  curl_blob certificate = blob_of(request_.certificate_pem);
  curl_blob key = blob_of(request_.key_pem);
  curl_easy_setopt(easy(), CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy(), CURLOPT_SSLKEYTYPE, "PEM");
  curl_easy_setopt(easy(), CURLOPT_SSLCERT_BLOB, &certificate);
  curl_easy_setopt(easy(), CURLOPT_SSLKEY_BLOB, &key);
}

Status CurlTransfer::set_up(bool http2) {
  easy_.reset(curl_easy_init());
  if (!easy_) return fail(ErrorCode::failed_precondition, "libcurl cannot be used");
  for (const std::string& line : request_.headers) add_header(line);
  add_header("Expect:");  // which costs a round trip
  if (!set_url())
    return fail(ErrorCode::failed_precondition, "not the URL of a server: " + quote(request_.url));
  set_tls();
  CURL* const curl = easy();
  curl_easy_setopt(curl, CURLOPT_PRIVATE, this);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);  // a cancelled request does not wait for DNS
  curl_easy_setopt(curl, CURLOPT_PROXY, request_.proxy_url.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION,
                   static_cast<long>(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_PIPEWAIT, http2 ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, set_user_timeout);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 20L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 10L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  if (request_.idle_timeout.count() > 0) {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(request_.idle_timeout.count()));
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error_);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  if (request_.method != "GET" && request_.method != "HEAD") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request_.body.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  return {};
}

std::size_t CurlTransfer::take_body(char* data, std::size_t, std::size_t size, void* to) {
  CurlTransfer& self = *static_cast<CurlTransfer*>(to);
  long status = 0;
  curl_easy_getinfo(self.easy(), CURLINFO_RESPONSE_CODE, &status);
  std::string& body = self.is_data(status) ? self.fresh_ : self.answer_.body;
  const std::size_t most = self.is_data(status) ? kMostFresh : self.request_.most_of_answer;
  if (size > most - std::min(most, body.size())) {
    self.is_too_long_ = true;
    return 0;
  }
  body.append(data, size);
  return size;
}

std::size_t CurlTransfer::take_header(char* data, std::size_t, std::size_t size, void* to) {
  CurlTransfer& self = *static_cast<CurlTransfer*>(to);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  HttpHeaders& headers = self.answer_.headers;
  if (line.starts_with("HTTP/")) headers.clear();  // those of a proxy, or of "100 Continue"
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || headers.size() >= kMostHeaders) return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  line.remove_prefix(colon + 1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  headers.insert_or_assign(std::move(name), std::string(line));
  return size;
}

void CurlTransfer::deliver() {
  if (fresh_.empty()) return;
  const std::string data = std::exchange(fresh_, {});
  data_(data);
}

HttpAnswer CurlTransfer::finish(CURLcode code) {
  HttpAnswer answer = std::move(answer_);
  if (code == CURLE_OK) {
    curl_easy_getinfo(easy(), CURLINFO_RESPONSE_CODE, &answer.status);
    return answer;
  }
  answer.body.clear();
  answer.is_final = is_final(code);
  answer.is_timeout = code == CURLE_OPERATION_TIMEDOUT;
  answer.is_untrusted = code == CURLE_PEER_FAILED_VERIFICATION;
  answer.error = printable(clip(error_[0] ? std::string_view(error_) : curl_easy_strerror(code)));
  if (is_too_long_)
    answer.error =
        "the answer is longer than " + std::to_string(request_.most_of_answer) + " bytes";
  return answer;
}

}  // namespace ares::kubernetes
