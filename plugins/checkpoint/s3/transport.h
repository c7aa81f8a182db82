// Transport: sends one HTTP request and receives its answer, by libcurl. Follows no redirection, verifies certificates of
// https always. Owned by the Client; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::checkpoint::s3 {

struct HttpRequest {
  std::string method;
  std::string url;
  std::vector<std::string> headers;  // "name: value"
  std::string_view body;
  std::size_t most_of_answer = 1 << 20;  // a longer body is a failure
};

struct HttpAnswer {
  long status = 0;
  std::map<std::string, std::string> headers;  // by name in lower case
  std::string body;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // unavailable: no answer, or only a part of one. failed_precondition: the server is not the one that its certificate
  // names, or its answer is too long.
  virtual Result<HttpAnswer> send(const HttpRequest& request) = 0;
};

class CurlTransport final : public Transport {
 public:
  // `ca_file`: certificates of authorities to trust; empty = the system's. `timeout_s`: without a byte.
  static Result<CurlTransport> open(const std::string& ca_file, std::uint32_t timeout_s);
  CurlTransport(CurlTransport&& other) noexcept;
  CurlTransport& operator=(CurlTransport&&) = delete;
  ~CurlTransport() override;

  Result<HttpAnswer> send(const HttpRequest& request) override;

 private:
  explicit CurlTransport(void* curl) : curl_(curl) {}
  void* curl_;  // of libcurl; its connections are used again
  std::string ca_file_;
  std::uint32_t timeout_s_ = 0;
};

}  // namespace ares::checkpoint::s3
