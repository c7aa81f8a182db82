// HttpServer: a small HTTP/1.1 server on 127.0.0.1 for tests, with one thread for each connection. Owned by a test. The handler is called
// on those threads.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "os/fd.h"

namespace ares::kubernetes {

struct ReceivedRequest {
  std::string method;
  std::string path;                            // with the query
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  int connection = 0;  // counted from 1
};

// Sends the answer's bytes as they are given.
class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  void write(std::string_view bytes);
  // An answer with a length. The connection can be used again.
  void answer(int status, std::string_view body, const std::string& headers = "");
  // A part of a chunked body; begin_chunks() before the first.
  void begin_chunks();
  void chunk(std::string_view bytes);
  // Whether the client has closed it, or does so within the time.
  bool is_closed_within(int milliseconds);
  void close() { is_closed_ = true; }
  bool is_closed() const { return is_closed_; }

 private:
  int fd_;
  bool is_closed_ = false;
};

class HttpServer {
 public:
  using Handler = std::function<void(const ReceivedRequest&, Connection&)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }
  std::vector<ReceivedRequest> received();

 private:
  void accept();
  void serve(int fd, int number);

  Handler handler_;
  os::Fd listener_;
  os::Fd end_;  // an eventfd that becomes readable at the end
  int port_ = 0;
  std::mutex mutex_;  // of received_
  std::vector<ReceivedRequest> received_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace ares::kubernetes
