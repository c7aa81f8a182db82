// Copies files to objects and objects to files, in parts, and compares each with its digest. One thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "checkpoint/manifest.h"
#include "checkpoint/s3/client.h"

namespace ares::checkpoint::s3 {

// Bytes in a part of a file of that size: `wanted`, or more, so that there are no more parts than S3 allows.
std::size_t part_size_of(std::uint64_t file_size, std::size_t wanted);

// failed_precondition: the file is not as `known` says. Nothing is left of an upload in parts that fails, if the server can still be
// reached.
Status upload(Client& client, const std::string& path, const ObjectName& object,
              const FileDigest& known);

// Gives the object's bytes in order to `take`. data_loss: they are not as `known` says; then `take` has had some of them.
Status download(Client& client, const ObjectName& object, const FileDigest& known,
                const std::function<Status(std::string_view)>& take);

}  // namespace ares::checkpoint::s3
