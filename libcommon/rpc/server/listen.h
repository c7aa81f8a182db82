// Sockets that the server listens on. A Unix socket's file can be deleted under it: it is then made again.
// Owned by the thread that accepts. Private to rpc/.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "rpc/wire/address.h"
#include "rpc/wire/socket.h"

namespace ares::rpc {

class UnixListener {
 public:
  // A socket file without a listener is replaced. already_exists: it has a listener; failed_precondition: the file is no
  // socket; unavailable: it cannot be made.
  static Result<UnixListener> open(std::string path, mode_t mode);

  int fd() const { return socket_.fd(); }
  const std::string& path() const { return path_; }

  // Whether the file is still this socket's: clients find it.
  bool is_reachable() const;

  // Makes socket and file again. Callers that wait on the old socket stay there: accept them first.
  Status reopen();

  // Removes the file if it is still this socket's.
  void remove_file();

 private:
  UnixListener(std::string path, mode_t mode) : path_(std::move(path)), mode_(mode) {}

  std::string path_;
  mode_t mode_;
  Socket socket_;
  dev_t device_ = 0;  // of the file
  ino_t inode_ = 0;
};

// Listens on every address that the host's name stands for; 0.0.0.0 and :: mean IPv4 and IPv6 alike. A port 0 becomes the one
// chosen. already_exists: the port is in use; unavailable: any other reason.
Result<std::vector<Socket>> listen_tcp(Address& address);

}  // namespace ares::rpc
