// One client on the local socket: its partial requests, calls and unsent answers.
// Created and read by the local server's thread; any thread may send answers. Private to rpc/.
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/ids.h"
#include "rpc/server/call_context.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

// With too many calls or unsent answers a client is not read; over the other limits it is closed.
struct LocalLimits {
  std::size_t connections = 8192;
  std::size_t connections_per_user = 2048;
  std::size_t calls_per_connection = 1024;
  std::size_t unsent_per_connection = 4u << 20;     // bytes of answers
  std::size_t partial_bytes_per_user = 128u << 20;  // bytes of requests
};

class LocalPeer : public std::enable_shared_from_this<LocalPeer> {
 public:
  // Not yet registered with `epoll`.
  LocalPeer(Socket socket, UserId user, int epoll, std::uint64_t id, const LocalLimits& limits)
      : user_(user), epoll_(epoll), id_(id), limits_(limits), socket_(std::move(socket)) {}

  // On the server's thread. False: disconnected, or an invalid frame was received; call close().
  bool watch();
  bool ready(std::uint32_t events, const CallContext& call_context);
  // Bytes received of an incomplete request.
  std::size_t partial_bytes() const { return input_.size(); }
  UserId user() const { return user_; }

  // Abandons its calls and sends a refusal if the socket is still open.
  void close();

  // Sends one frame to it. Any thread.
  void send_frame(const std::string& frame);

 private:
  bool read();
  bool read_requests(const CallContext& call_context);
  bool handle_frame(std::uint32_t call, std::uint32_t code, std::string_view body,
                    const CallContext& call_context);
  void answer(std::uint32_t call, Result<api::Sealed> result);
  void flush();  // with the lock held, likewise full() and update_epoll()
  bool full() const;
  void update_epoll();

  const UserId user_;
  const int epoll_;
  const std::uint64_t id_;
  const LocalLimits& limits_;

  std::string input_;             // this and the next on the server's thread only
  std::uint64_t to_discard_ = 0;  // remaining bytes of a request that is too large

  std::mutex mutex_;
  Socket socket_;  // closed by the server's thread only
  std::string output_;
  std::map<std::uint32_t, std::shared_ptr<Answer>> calls_;
  std::uint32_t epoll_events_ = 0;
  bool paused_ = false;  // not read until answers have been sent
};

}  // namespace ares::rpc
