// CurlTransfer: one request of the HttpEngine as libcurl sees it. Owned by the engine; one thread.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "exec/kubernetes/api/http.h"

namespace ares::kubernetes {

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

class CurlTransfer {
 public:
  CurlTransfer(HttpEngine::Id id, HttpRequest request, HttpDone done, HttpData data)
      : id_(id), request_(std::move(request)), done_(std::move(done)), data_(std::move(data)) {}

  // failed_precondition: libcurl does not accept the request.
  Status set_up(bool http2);

  HttpEngine::Id id() const { return id_; }
  CURL* easy() const { return easy_.get(); }
  bool is_streamed() const { return static_cast<bool>(data_); }

  // Calls back with what has been received of a stream since the last call; nothing for other requests.
  void deliver();
  // The answer after libcurl has ended the transfer with this code.
  HttpAnswer finish(CURLcode code);
  const HttpDone& done() const { return done_; }

 private:
  static std::size_t take_body(char* data, std::size_t one, std::size_t size, void* self);
  static std::size_t take_header(char* data, std::size_t one, std::size_t size, void* self);
  void add_header(const std::string& line);
  bool set_url();
  void set_tls();
  bool is_data(long status) const { return is_streamed() && status == 200; }

  HttpEngine::Id id_;
  HttpRequest request_;
  HttpDone done_;
  HttpData data_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  std::unique_ptr<curl_slist, FreeList> connect_to_;
  HttpAnswer answer_;
  std::string fresh_;  // of a stream
  bool is_too_long_ = false;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace ares::kubernetes
