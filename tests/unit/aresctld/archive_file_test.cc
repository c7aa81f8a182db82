// Tests: fnv1a
#include "aresctld/accounting/archive_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace ares::aresctld {
namespace {

using ::testing::HasSubstr;
using Rows = std::vector<std::string>;

const ArchiveHead kHead{"1b4e28ba-2fa1-11d2-883f-0016d3cca427", "demo \"c\"",
                        Time(std::chrono::sys_days(std::chrono::year(2030) / 2 / 1))};

class ArchiveFileTest : public ::testing::Test {
 protected:
  ArchiveFileTest() {
    char name[] = "/tmp/ares-archive-XXXXXX";
    top_ = mkdtemp(name);
  }
  ~ArchiveFileTest() override { std::filesystem::remove_all(top_); }

  std::string write(const Rows& rows) {
    auto writer = ArchiveWriter::begin(folder(), kHead);
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
    EXPECT_TRUE(writer->add(rows));
    const auto name = writer->finish();
    EXPECT_TRUE(name) << (name ? "" : name.error().message);
    return name ? *name : "";
  }
  std::string folder() const { return top_ + "/a/b"; }
  std::string text(const std::string& name) const {
    std::ifstream in(folder() + "/" + name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(folder() + "/" + name) << text;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder()), {}));
  }

  std::string top_;
};

TEST_F(ArchiveFileTest, IsReadAsWritten) {
  Rows rows;
  for (int i = 0; i < 4'999; ++i) rows.push_back("{\"job_id\":" + std::to_string(i) + "}");
  EXPECT_EQ(write(rows), "attempts-2030-02.json");
  const std::string path = folder() + "/attempts-2030-02.json";
  const auto content = check_archive(path);
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->rows, rows.size());
  EXPECT_EQ(content->head.system, kHead.system);
  EXPECT_EQ(content->head.cluster, kHead.cluster);
  EXPECT_EQ(content->head.month, kHead.month);
  Rows read;
  ASSERT_TRUE(read_archive(path, [&](const Rows& part) -> Status {
    read.insert(read.end(), part.begin(), part.end());
    return {};
  }));
  EXPECT_EQ(read, rows);
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// After a crash the file is written again; a file with other content is never replaced.
TEST_F(ArchiveFileTest, SameContentIsTheSameFile) {
  EXPECT_EQ(write({"{\"a\":1}"}), "attempts-2030-02.json");
  {
    auto torn = ArchiveWriter::begin(folder(), kHead);
    ASSERT_TRUE(torn);
    ASSERT_TRUE(torn->add({"{\"a\":1}"}));
  }
  EXPECT_EQ(write({"{\"a\":1}"}), "attempts-2030-02.json");
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(write({"{\"a\":1}", "{\"a\":2}"}), "attempts-2030-02-2.json");
  EXPECT_EQ(write({"{\"a\":1}"}), "attempts-2030-02.json");
  EXPECT_EQ(write({}), "attempts-2030-02-3.json");
  EXPECT_EQ(files(), 3u);
}

TEST_F(ArchiveFileTest, DamagedFileIsRefused) {
  const std::string name = write({"{\"a\":1}", "{\"a\":2}", "{\"a\":3}"});
  const std::string good = text(name), path = folder() + "/x";
  for (std::size_t cut = 1; cut < good.size() - 1; ++cut) {
    put("x", good.substr(0, cut));
    ASSERT_FALSE(check_archive(path)) << cut;
  }
  for (std::size_t at = good.find('\n') + 1; at < good.size() - 1; at += 3) {
    std::string bad = good;
    bad[at] = bad[at] == 'x' ? 'y' : 'x';
    put("x", bad);
    const auto refused = check_archive(path);
    ASSERT_FALSE(refused) << at;
    EXPECT_EQ(refused.error().code, ErrorCode::data_loss);
  }
  put("x", "hello\n");
  EXPECT_THAT(check_archive(path).error().message, HasSubstr("is no archive of accounting"));
  put("x", "{\"ares_archive\":2,\"month\":\"2030-02\"}\n");
  EXPECT_THAT(check_archive(path).error().message, HasSubstr("of a newer release"));
  EXPECT_EQ(check_archive(folder() + "/none").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ares::aresctld
