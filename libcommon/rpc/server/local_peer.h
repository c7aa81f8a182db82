// One client on the local socket: what it has said and what is to be said to it.
// Made and read from by the local server's thread; answers come from any. Private to rpc/.
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

// A client that sends without taking its answers is not read from beyond these; who has more open or half sent is turned away.
struct LocalLimits {
  std::size_t connections = 8192;
  std::size_t connections_per_user = 2048;
  std::size_t calls_per_connection = 1024;
  std::size_t unsent_per_connection = 4u << 20;     // bytes of answers
  std::size_t partial_bytes_per_user = 128u << 20;  // bytes of requests
};

class LocalPeer : public std::enable_shared_from_this<LocalPeer> {
 public:
  // Not yet watched by `epoll`.
  LocalPeer(Socket socket, UserId user, int epoll, std::uint64_t id, const LocalLimits& limits)
      : user_(user), epoll_(epoll), id_(id), limits_(limits), socket_(std::move(socket)) {}

  // By the server's thread. False: it has gone, or says what nobody understands; to be closed.
  bool watch();
  bool ready(std::uint32_t events, const CallContext& call_context);
  // What it has sent of a request that is not whole yet, bytes.
  std::size_t partial_bytes() const { return input_.size(); }
  UserId user() const { return user_; }

  // Its calls are abandoned; told so if there is still somebody to hear it.
  void close();

  // One frame for it. Any thread.
  void send_frame(const std::string& frame);

 private:
  bool read();
  bool read_requests(const CallContext& call_context);
  bool handle_frame(std::uint32_t call, std::uint32_t code, std::string_view body,
                    const CallContext& call_context);
  void answer(std::uint32_t call, Result<api::Sealed> result);
  void flush();  // with the lock held, as the next
  bool full() const;
  void update_epoll();

  const UserId user_;
  const int epoll_;
  const std::uint64_t id_;
  const LocalLimits& limits_;

  std::string input_;             // server's thread only, as the next
  std::uint64_t to_discard_ = 0;  // bytes of a request that was too large

  std::mutex mutex_;
  Socket socket_;  // closed by the server's thread only
  std::string output_;
  std::map<std::uint32_t, std::shared_ptr<Answer>> calls_;
  std::uint32_t epoll_events_ = 0;
  bool paused_ = false;  // nothing is read until answers have left
};

}  // namespace ares::rpc
