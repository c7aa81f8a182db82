// ares-receive, the task of abcast on each node: writes what it reads to a file, as the job's user, and
// publishes the file only if it is whole. Called by main().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ares::abcast {

struct Delivery {
  std::string destination;  // a path on the node
  std::uint64_t size = 0;
  std::string sha256;  // in hexadecimal
  std::uint32_t mode = 0644;
  bool force = false;                          // replace a file that exists
  std::optional<std::int64_t> access, change;  // times to keep, in seconds since 1970
};

std::vector<std::string> words_of(const Delivery& delivery);
Result<Delivery> read_delivery(const std::vector<std::string>& words);

// Reads descriptor 0 to its end. An error leaves nothing behind at the destination.
Status receive(const Delivery& delivery);

}  // namespace ares::abcast
