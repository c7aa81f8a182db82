// Client: signed requests to one S3 server, each tried again with growing delays while that can help. Owned by the
// Store; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "checkpoint/backend.h"
#include "checkpoint/s3/replies.h"
#include "checkpoint/s3/settings.h"
#include "checkpoint/s3/transport.h"

namespace ares::checkpoint::s3 {

struct ObjectName {
  std::string bucket;
  std::string key;
};

// What a client needs of the world.
struct ClientParts {
  std::unique_ptr<Transport> transport;
  std::function<Time()> now;
  std::function<void(Duration)> wait;
  Warn warn;
};

// Errors of all calls: permission_denied (the server refuses these credentials), not_found, unavailable (none of the
// tries succeeded), failed_precondition. Messages name the object and what the server said, never a secret.
class Client {
 public:
  Client(Settings settings, Credentials credentials, ClientParts parts);

  const Settings& settings() const { return settings_; }

  Status put(const ObjectName& object, std::string_view body, const std::string& sha256);

  // already_exists: there is one with another content. Where the server has no such condition, it is looked for first.
  Status put_if_absent(const ObjectName& object, std::string_view body, const std::string& sha256);

  // `size` bytes from `offset` of an object; data_loss if it has not that many, or not `total` in all.
  Result<std::string> get_part(const ObjectName& object, std::uint64_t offset, std::size_t size,
                               std::uint64_t total);
  // The whole of an object of at most that size.
  Result<std::string> get(const ObjectName& object, std::size_t most);
  Result<bool> exists(const ObjectName& object);
  Status remove(const ObjectName& object);  // also if there is none

  // All keys with that prefix. With `folders`, instead, the different beginnings up to the next slash, that included.
  Result<std::vector<std::string>> list(const ObjectName& prefix, bool folders);

  Result<std::string> begin_parts(const ObjectName& object);
  // Returns the ETag. `number` counts from 1.
  Result<std::string> put_part(const ObjectName& object, const std::string& upload,
                               std::size_t number, std::string_view body,
                               const std::string& sha256);
  Status complete_parts(const ObjectName& object, const std::string& upload,
                        const std::vector<std::string>& etags);
  Status abort_parts(const ObjectName& object, const std::string& upload);

 private:
  Result<std::string> get_part_once(const ObjectName& object, std::uint64_t offset,
                                    std::size_t size, std::uint64_t total);

  struct Call {
    std::string method;
    ObjectName object;
    Parameters query{};
    Headers headers{};
    std::string_view body{};
    std::string sha256 = kSha256OfNothing;  // of the body
    std::size_t most_of_answer = 1 << 20;
  };
  // The answer of the server if it has a status of 2xx, or one of `expected`.
  Result<HttpAnswer> run(const Call& call, const std::vector<long>& expected = {});
  Result<HttpAnswer> try_once(const Call& call);

  Settings settings_;
  Credentials credentials_;
  ClientParts parts_;
  bool conditional_ = true;  // the server knows If-None-Match for PUT, as far as is known
};

}  // namespace ares::checkpoint::s3
