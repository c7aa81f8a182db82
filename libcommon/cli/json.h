// Answers of the controller as JSON, for --json.
// Pure functions; any thread.
#pragma once

#include <string>

namespace google::protobuf {
class Message;
}

namespace ares::cli {

// Field names as in the protocol, 64-bit numbers as numbers, digests as hexadecimal; optional fields that are not set are null.
std::string to_json(const google::protobuf::Message& message);

}  // namespace ares::cli
