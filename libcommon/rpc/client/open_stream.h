// Opens a stream to an address of either kind. Any thread.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "rpc/client/client.h"
#include "rpc/client/stream.h"

namespace ares::rpc {

// Sends the request to the address of this number; connects within options.timeout. unavailable: try again, or `interrupt`, a
// descriptor, became readable before there was a connection.
Result<std::unique_ptr<Stream>> open_stream(const ClientOptions& options, std::size_t address,
                                            api::Request request, int interrupt = -1);

}  // namespace ares::rpc
