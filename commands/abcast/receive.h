// ares-receive, the task of abcast on each node: writes what it reads to a file, as the job's user, and
// publishes the file only if it is whole. Called by main().
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arun/broadcast.h"
#include "base/result.h"

namespace ares::abcast {

using arun::Delivery;

// What arun/broadcast.h has made.
Result<Delivery> read_delivery(const std::vector<std::string>& words);
// The path to remove, if that is what the words say.
std::optional<std::string> path_to_remove(const std::vector<std::string>& words);

// Reads descriptor 0 to its end. An error leaves nothing behind at the destination.
Status receive(const Delivery& delivery);

// A file that is not there is removed.
Status remove(const std::string& path);

}  // namespace ares::abcast
