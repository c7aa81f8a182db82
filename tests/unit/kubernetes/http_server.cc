#include "unit/kubernetes/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cctype>

namespace ares::kubernetes {

void Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return close();
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Connection::answer(int status, std::string_view body, const std::string& headers) {
  write("HTTP/1.1 " + std::to_string(status) + " Status\r\n" + headers +
        "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
}

void Connection::begin_chunks() {
  write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void Connection::chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  write(size + std::string(bytes) + "\r\n");
}

bool Connection::is_closed_within(int milliseconds) {
  pollfd state{fd_, POLLIN | POLLRDHUP, 0};
  return ::poll(&state, 1, milliseconds) > 0 &&
         (state.revents & (POLLHUP | POLLERR | POLLRDHUP)) != 0;
}

HttpServer::HttpServer(Handler handler) : handler_(std::move(handler)) {
  listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  end_.reset(::eventfd(0, EFD_CLOEXEC));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) < 0 ||
      ::listen(listener_.get(), 64) < 0 ||
      ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) < 0)
    return;
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept(); });
}

HttpServer::~HttpServer() {
  ::eventfd_write(end_.get(), 1);
  if (acceptor_.joinable()) acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<ReceivedRequest> HttpServer::received() {
  const std::lock_guard lock(mutex_);
  return received_;
}

void HttpServer::accept() {
  for (int number = 1;; ++number) {
    pollfd ready[] = {{listener_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || ready[1].revents != 0) return;
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) threads_.emplace_back([this, fd, number] { serve(fd, number); });
  }
}

namespace {

// Whether `text` has a whole request, which it takes away.
bool take_request(std::string& text, ReceivedRequest& request) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string head = text.substr(0, end);
  const std::size_t first = head.find(' ');
  request.method = head.substr(0, first);
  request.path = head.substr(first + 1, head.find(' ', first + 1) - first - 1);
  for (std::size_t at = head.find("\r\n"); at != std::string::npos;
       at = head.find("\r\n", at + 2)) {
    const std::string line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    std::string name = line.substr(0, line.find(':'));
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    request.headers[name] = line.substr(line.find(':') + 2);
  }
  const auto length = request.headers.find("content-length");
  const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  if (text.size() < end + 4 + size) return false;
  request.body = text.substr(end + 4, size);
  text.erase(0, end + 4 + size);
  return true;
}

}  // namespace

void HttpServer::serve(int fd, int number) {
  const os::Fd owned(fd);
  Connection connection(fd);
  std::string text;
  while (!connection.is_closed()) {
    ReceivedRequest request;
    request.connection = number;
    if (take_request(text, request)) {
      {
        const std::lock_guard lock(mutex_);
        received_.push_back(request);
      }
      handler_(request, connection);
      continue;
    }
    pollfd ready[] = {{fd, POLLIN, 0}, {end_.get(), POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 || ready[1].revents != 0) return;
    char buffer[16384];
    const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) return;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

}  // namespace ares::kubernetes
