// Events written by released versions must load for ever. Each version keeps its own folder of lines
// "kind version hex"; every kind of event is there, with every field filled.
// `ARES_WRITE_REPLAY=FOLDER test_replay` writes the events of this version there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "proto/storage_convert.h"
#include "unit/proto/storage_random.h"

namespace ares::proto {
namespace {

namespace fs = std::filesystem;

std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    hex.push_back(kDigits[c & 15]);
  }
  return hex;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

struct Line {
  std::string kind, body;
  std::uint32_t version = 0;
};

std::vector<Line> read_lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Line> lines;
  std::string kind, hex;
  std::uint32_t version = 0;
  while (file >> kind >> version >> hex) lines.push_back({kind, from_hex(hex), version});
  return lines;
}

TEST(Replay, EventsOfEveryReleaseStillLoad) {
  int releases = 0;
  for (const auto& folder : fs::directory_iterator(ARES_SOURCE_DIR "/tests/replay")) {
    if (!folder.is_directory()) continue;
    ++releases;
    const auto lines = read_lines(folder.path() / "events.txt");
    ASSERT_FALSE(lines.empty()) << folder.path();
    for (const Line& line : lines) {
      const auto event = decode_event(line.version, line.body);
      ASSERT_TRUE(event) << folder.path() << ", " << line.kind << ": " << event.error().message;
      EXPECT_EQ(event_kind(*event), line.kind);
      // Nothing an older release wrote is dropped: written again it reads back as the same event.
      const auto again = decode_event(kStorageVersion, encode_event(*event));
      ASSERT_TRUE(again);
      EXPECT_TRUE(testing::same(*event, *again)) << line.kind;
      EXPECT_GE(encode_event(*event).size(), line.body.size()) << line.kind << " lost something";
    }
  }
  EXPECT_GT(releases, 0);
}

TEST(Replay, TheFirstReleaseHasEveryKindItKnew) {
  std::map<std::string, int> kinds;
  for (const Line& line : read_lines(ARES_SOURCE_DIR "/tests/replay/v0.1/events.txt"))
    ++kinds[line.kind];
  EXPECT_EQ(kinds.size(), 32u);
  for (const auto& [kind, count] : kinds) EXPECT_EQ(count, 3) << kind;
}

TEST(Replay, WritesTheEventsOfThisVersionWhenAsked) {
  const char* folder = std::getenv("ARES_WRITE_REPLAY");
  if (!folder) GTEST_SKIP() << "ARES_WRITE_REPLAY is not set";
  testing::RandomModel random(2026);
  std::ofstream file(fs::path(folder) / "events.txt");
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind)
    for (int i = 0; i < 3; ++i) {
      const EventBody event = random.make_event(kind);
      std::string body = encode_event(event);
      file << event_kind(event) << ' ' << kStorageVersion << ' ' << to_hex(body) << '\n';
    }
  ASSERT_TRUE(file.flush());
}

}  // namespace
}  // namespace ares::proto
