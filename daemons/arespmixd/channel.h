// The connection of arespmixd to its step's daemon: messages in and out. Owned by main; one thread.
#pragma once

#include <optional>

#include "base/result.h"
#include "os/fd.h"
#include "pmi/pmix_message.h"

namespace ares::pmixd {

class Channel {
 public:
  explicit Channel(os::Fd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  // Waits until the daemon has read enough. resource_exhausted: the event is too long, and was not sent.
  Status send(const pmi::PmixEvent& event);
  // Reads what there is, or waits for something. False when the daemon has closed the connection.
  Result<bool> receive();
  // The next of the commands that were received.
  Result<std::optional<pmi::PmixCommand>> next();

 private:
  os::Fd socket_;
  pmi::PmixFrames frames_{pmi::kMostPmixCommand};
};

}  // namespace ares::pmixd
