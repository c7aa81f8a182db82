// Any bytes are converted to a value or an error. This runs under AddressSanitizer too.
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include "proto/convert.h"
#include "proto/convert_node.h"
#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"
#include "proto/request_digest.h"
#include "unit/proto/convert_random.h"

namespace ares::proto {
namespace {

class ConvertFuzz : public ::testing::Test {
 protected:
  ConvertFuzz() { google::protobuf::SetLogHandler(nullptr); }

  std::string noise() {
    std::string bytes(random.number(200), '\0');
    for (char& c : bytes) c = static_cast<char>(random.u32());
    return bytes;
  }

  // Truncates, changes bytes, repeats parts.
  std::string damage(std::string bytes) {
    for (std::uint64_t n = random.number(4); n > 0 && !bytes.empty(); --n)
      bytes[random.number(bytes.size())] = static_cast<char>(random.u32());
    if (random.number(3) == 0) bytes.resize(random.number(bytes.size() + 1));
    if (random.number(8) == 0) bytes += bytes.substr(random.number(bytes.size() + 1));
    return bytes;
  }

  template <class Wire>
  void read(const std::string& bytes) {
    Wire wire;
    if (!wire.ParseFromString(bytes)) return;
    ++parsed;
    auto value = from_api(wire);
    if (value) {
      ++converted;
      Wire again;
      to_api(*value, &again);
      EXPECT_TRUE(from_api(again)) << "what was accepted must be accepted again";
    } else {
      EXPECT_EQ(value.error().code, ErrorCode::invalid_argument);
      EXPECT_FALSE(value.error().message.empty());
    }
  }

  testing::RandomWire random{21};
  int parsed = 0;
  int converted = 0;
};

TEST_F(ConvertFuzz, NoiseIsAValueOrAnError) {
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = noise();
    read<api::JobSpec>(bytes);
    read<api::NodeUp>(bytes);
    read<api::NodeDown>(bytes);
  }
  EXPECT_GT(parsed, 0);
}

TEST_F(ConvertFuzz, DamagedMessageIsAValueOrAnError) {
  for (std::size_t i = 0; i < 6000; ++i) {
    api::JobSpec spec;
    to_api(random.job_spec(), &spec);
    read<api::JobSpec>(damage(spec.SerializeAsString()));
    api::NodeUp up;
    to_api(random.from_node(i % 4), &up);
    read<api::NodeUp>(damage(up.SerializeAsString()));
    api::NodeDown down;
    to_api(random.to_node(i % 10), &down);
    read<api::NodeDown>(damage(down.SerializeAsString()));
  }
  EXPECT_GT(parsed, 1000);
  EXPECT_GT(converted, 1000);
}

TEST_F(ConvertFuzz, DigestOfADamagedMessageIsStable) {
  for (int i = 0; i < 5000; ++i) {
    api::Request request;
    to_api(random.job_spec(), request.mutable_submit()->mutable_spec());
    api::Request damaged;
    if (!damaged.ParseFromString(damage(request.SerializeAsString()))) continue;
    EXPECT_EQ(request_digest(damaged), request_digest(damaged));
  }
}

}  // namespace
}  // namespace ares::proto
