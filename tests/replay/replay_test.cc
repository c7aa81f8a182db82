// Events and records written by released versions must always load. The folder of each release has lines
// of "kind version hex": events.txt has every kind of event, records.txt every kind of record, with every
// field set. `ARES_WRITE_REPLAY=FOLDER test_replay` writes those of this version; make_release.py does so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
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

// Every folder below tests/replay is a release.
std::vector<fs::path> releases() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(ARES_SOURCE_DIR "/tests/replay"))
    if (entry.is_directory() && fs::exists(entry.path() / "events.txt"))
      folders.push_back(entry.path());
  return folders;
}

// Nothing an older release stored is lost: encoded again, it decodes to the same value.
template <class T, class Decode, class Encode>
void expect_kept(const Line& line, const Decode& decode, const Encode& encode) {
  const Result<T> value = decode(line.version, line.body);
  ASSERT_TRUE(value) << line.kind << ": " << value.error().message;
  const std::string written = encode(*value);
  const Result<T> again = decode(kStorageVersion, written);
  ASSERT_TRUE(again) << line.kind << ": " << again.error().message;
  EXPECT_TRUE(testing::same(*value, *again)) << line.kind;
  EXPECT_GE(written.size(), line.body.size()) << line.kind << " lost something";
}

// The kinds of records stored besides events: how one is generated, and how one that was read is checked.
struct RecordRow {
  std::string name;
  std::function<std::string(testing::RandomModel&)> make;
  std::function<void(const Line&)> check;
};

template <class T, class Encode, class Decode>
RecordRow record(std::string name, Encode encode, Decode decode) {
  return {std::move(name),
          [encode](testing::RandomModel& random) { return encode(random.make<T>()); },
          [encode, decode](const Line& line) { expect_kept<T>(line, decode, encode); }};
}

const std::vector<RecordRow>& record_rows() {
  // A job is stored without its specification.
  static const auto decode_bare_job = [](std::uint32_t version, std::string_view bytes) {
    return decode_job(version, bytes, std::make_shared<const JobSpec>());
  };
  static const std::vector<RecordRow> rows = {
      record<JobSpec>("spec", encode_spec, decode_spec),
      record<Job>("job", encode_job, decode_bare_job),
      record<Node>("node", encode_node, decode_node),
      record<Partition>("partition", encode_partition, decode_partition),
      record<Reservation>("reservation", encode_reservation, decode_reservation),
      record<AccountingRecord>("accounting", encode_accounting, decode_accounting),
      record<AssociationUsage>("usage", encode_usage, decode_usage),
      record<Request>("request", encode_request, decode_request)};
  return rows;
}

TEST(Replay, EventsOfEveryReleaseStillLoad) {
  EXPECT_FALSE(releases().empty());
  for (const fs::path& folder : releases()) {
    SCOPED_TRACE(folder);
    const auto lines = read_lines(folder / "events.txt");
    ASSERT_FALSE(lines.empty());
    for (const Line& line : lines) {
      const auto event = decode_event(line.version, line.body);
      ASSERT_TRUE(event) << line.kind << ": " << event.error().message;
      EXPECT_EQ(event_kind(*event), line.kind);
      expect_kept<EventBody>(line, decode_event, encode_event);
    }
  }
}

TEST(Replay, RecordsOfEveryReleaseStillLoad) {
  for (const fs::path& folder : releases()) {
    SCOPED_TRACE(folder);
    const auto lines = read_lines(folder / "records.txt");
    ASSERT_FALSE(lines.empty());
    for (const Line& line : lines) {
      const auto row = std::find_if(record_rows().begin(), record_rows().end(),
                                    [&](const RecordRow& r) { return r.name == line.kind; });
      ASSERT_NE(row, record_rows().end()) << line.kind;
      row->check(line);
    }
  }
}

std::map<std::string, int> count_kinds(const char* file) {
  std::map<std::string, int> kinds;
  for (const Line& line : read_lines(fs::path(ARES_SOURCE_DIR "/tests/replay/v0.1.0") / file))
    ++kinds[line.kind];
  return kinds;
}

TEST(Replay, FirstReleaseCoversAllItsKinds) {
  const auto events = count_kinds("events.txt");
  EXPECT_EQ(events.size(), 43u);
  for (const auto& [kind, count] : events) EXPECT_GE(count, 3) << kind;
  const auto records = count_kinds("records.txt");
  EXPECT_EQ(records.size(), 8u);
  for (const auto& [kind, count] : records) EXPECT_EQ(count, 20) << kind;
}

TEST(Replay, WritesTheEventsAndRecordsOfThisVersionWhenAsked) {
  const char* folder = std::getenv("ARES_WRITE_REPLAY");
  if (!folder) GTEST_SKIP() << "ARES_WRITE_REPLAY is not set";
  testing::RandomModel random(2026);
  std::ofstream events(fs::path(folder) / "events.txt");
  for (std::size_t kind = 0; kind < std::variant_size_v<EventBody>; ++kind)
    for (int i = 0; i < 3; ++i) {
      const EventBody event = random.make_event(kind);
      events << event_kind(event) << ' ' << kStorageVersion << ' ' << to_hex(encode_event(event))
             << '\n';
    }
  ASSERT_TRUE(events.flush());
  std::ofstream records(fs::path(folder) / "records.txt");
  for (const RecordRow& row : record_rows())
    for (int i = 0; i < 20; ++i)
      records << row.name << ' ' << kStorageVersion << ' ' << to_hex(row.make(random)) << '\n';
  ASSERT_TRUE(records.flush());
}

}  // namespace
}  // namespace ares::proto
