// Shows what gRPC receives from a socket to a watch before gRPC sees it; the watch may cut the connection.
// gRPC's interface has no place for that, and gRPC buffers a message of any announced size before it reports it. So the linker
// puts this in place of gRPC's calls of recvmsg() (libcommon/CMakeLists.txt). Where gRPC is a shared library
// (ThreadSanitizer) a watch sees nothing. Any thread. Private to rpc/.
#pragma once

#include <memory>
#include <string_view>

namespace ares::rpc {

class ReceiveWatch {
 public:
  virtual ~ReceiveWatch() = default;
  // By the thread that receives, never two at once for one connection. False: gRPC gets an error instead of the bytes.
  virtual bool received(std::string_view bytes) = 0;
};

// Until unwatch_received(), or until another watch is set for the same number.
void watch_received(int fd, std::shared_ptr<ReceiveWatch> watch);

// Does nothing if the number has another watch by now.
void unwatch_received(int fd, const ReceiveWatch* watch);

// For a descriptor without a watch: its number may have been that of a connection whose end was not noticed yet.
void unwatch_received(int fd);

}  // namespace ares::rpc
