// Unix stream sockets that are named by a directory and a file in it, so that the length of the path does
// not matter. Stateless; any thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace ares::os {

// Listens there in place of a process that did before. Only root and the user `owner` can connect.
Result<Fd> listen_in(const std::string& directory, const std::string& name, uid_t owner);

// Connects; needs only the right to pass through the directory. not_found: there is no such socket;
// unavailable: no process listens. Where too many connections wait to be accepted it waits, too, or
// without `wait` is unavailable.
Result<Fd> connect_in(const std::string& directory, const std::string& name, bool wait = true);

}  // namespace ares::os
