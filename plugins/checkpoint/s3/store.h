// Store: checkpoints as objects of an S3 bucket. The checkpoint s3://BUCKET/PREFIX/000007.2 is its files as objects of these
// names behind it, and MANIFEST.json, which is written last: with it the checkpoint is published. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/backend.h"
#include "checkpoint/manifest.h"
#include "checkpoint/s3/client.h"

namespace ares::checkpoint::s3 {

// s3://BUCKET/KEY, without slashes at its end. invalid_argument: it is not one, or the bucket cannot have this name.
Result<ObjectName> parse_uri(const std::string& uri);

class Store final : public Backend {
 public:
  explicit Store(Client client) : client_(std::move(client)) {}

  Status prepare(const std::string& place)
      override;  // nothing but a look at the URI: buckets have no directories
  Status publish(const std::string& directory, const std::string& uri,
                 const std::string& manifest) override;
  Status withdraw(const std::string& uri, const std::string& directory) override;
  Result<std::string> read(const std::string& uri) override;
  Result<std::string> verify(const std::string& uri, const std::optional<Digest>& digest) override;
  Status fetch(const std::string& uri, const std::optional<Digest>& digest,
               const std::string& directory) override;
  Result<std::vector<std::string>> list(const std::string& place) override;
  Status remove_older(const std::string& place, std::uint64_t oldest_kept) override;

 private:
  Result<std::string> read_committed(const ObjectName& checkpoint,
                                     const std::optional<Digest>& digest);
  Status remove_checkpoint(const ObjectName& checkpoint);

  Client client_;
};

}  // namespace ares::checkpoint::s3
