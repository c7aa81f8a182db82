// The client side of Stream: one request, and parts of its answer until one side ends it. It has a connection and a session of
// its own. Owned by a command; one thread, which waits with poll() for fd(). It says nothing of a server that is silent:
// the caller knows how often there has to be a part.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace ares::rpc {

struct StreamSeal;

class Stream {
 public:
  virtual ~Stream() = default;

  // Readable: next() has something.
  virtual int fd() const = 0;

  // The next part; none: it has not arrived. Does not wait. An error ends the stream: `unavailable` if the connection
  // has gone or the controller stops, else a refusal.
  Result<std::optional<api::Response>> next();

 protected:
  // One message as it came; none: there is none yet.
  virtual Result<std::optional<api::Sealed>> receive() = 0;
  Stream() = default;

  std::shared_ptr<StreamSeal> seal_;  // none: the system names both sides

 private:
  friend class LocalStream;
  friend class GrpcStream;
  static Result<api::Sealed> sealed_request(const ClientOptions& options,
                                            const std::string& payload,
                                            std::shared_ptr<StreamSeal>& seal);
};

}  // namespace ares::rpc
