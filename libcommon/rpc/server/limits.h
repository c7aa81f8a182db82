// How many connections the server takes, by the number of descriptors that the process may have: no user takes all of them,
// and some are kept for the database, files and logs.
// Plain values; any thread. Private to rpc/.
#pragma once

#include <cstddef>

namespace ares::rpc {

struct ConnectionLimits {
  std::size_t descriptors = 0;
  std::size_t reserve = 0;               // descriptors that no connection gets
  std::size_t local = 0;                 // on the local socket
  std::size_t local_per_user = 0;        //
  std::size_t unproven = 0;              // by TCP, before anything was authenticated
  std::size_t unproven_per_address = 0;  //
  std::size_t tcp_per_user = 0;          // by TCP, afterwards; node daemons are not counted
};

ConnectionLimits connection_limits(std::size_t descriptors);

// The limit that holds now.
std::size_t descriptor_limit();

// Whether `fd`, just opened, was one of the reserve. The kernel gives the lowest number that is free.
bool in_reserve(int fd, const ConnectionLimits& limits);

}  // namespace ares::rpc
