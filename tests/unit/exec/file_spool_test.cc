// The spool on a real disk: directories of ended attempts are used again without any content of the old attempt.
#include "exec/baremetal/file_spool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace ares::exec {
namespace {

using node::Record;

AttemptKey attempt(std::uint64_t job) {
  return {{JobId(job), TaskIndex{}}, AttemptNo{1}};
}

ino_t inode(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0) << path;
  return found.st_ino;
}

class Spool : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-spool-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
    spool = std::move(*FileSpool::open(path));
  }
  void TearDown() override {
    spool.reset();
    std::filesystem::remove_all(path);
  }
  std::string free() const { return path + "/free"; }

  std::string path;
  std::unique_ptr<FileSpool> spool;
};

TEST_F(Spool, ReusedDirectoryHasNoOldContent) {
  const std::string first = spool->directory(attempt(1));
  {
    auto dir = std::move(*spool->create(attempt(1)));
    for (const Record record : {Record::spec, Record::environment, Record::script, Record::intent,
                                Record::started, Record::exit})
      ASSERT_TRUE(dir->create(record, "of the first attempt"));
  }
  const ino_t intent = inode(first + "/intent"), script = inode(first + "/script");
  std::filesystem::create_hard_link(first + "/script", path + "/kept-by-its-user");
  ASSERT_TRUE(spool->remove(attempt(1)));
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_TRUE(spool->list()->empty());
  EXPECT_EQ(spool->open(attempt(1)), nullptr);

  auto dir = std::move(*spool->create(attempt(2)));
  for (std::size_t i = 0; i < node::kRecordCount; ++i)
    EXPECT_FALSE(dir->has(static_cast<Record>(i))) << i;
  for (const auto& entry : std::filesystem::directory_iterator(spool->directory(attempt(2)))) {
    const std::string name = entry.path().filename();
    if (name.find("spec") != std::string::npos || name.find("environment") != std::string::npos) {
      EXPECT_EQ(entry.file_size(), 0u) << name << " may hold secrets";
    }
  }
  ASSERT_TRUE(dir->create(Record::intent, "second"));
  EXPECT_EQ(*dir->read(Record::intent), "second");
  EXPECT_EQ(inode(spool->directory(attempt(2)) + "/intent"), intent);
  EXPECT_FALSE(dir->create(Record::intent, "again"));
  // A script belongs to its user: the next script must not be written into the same file.
  ASSERT_TRUE(dir->create(Record::script, "second"));
  EXPECT_NE(inode(spool->directory(attempt(2)) + "/script"), script);
}

TEST_F(Spool, DirectoryWithALiveSupervisorIsNotReused) {
  auto dir = std::move(*spool->create(attempt(1)));
  ASSERT_TRUE(*dir->lock());
  ASSERT_TRUE(spool->remove(attempt(1)));
  EXPECT_EQ(spool->open(attempt(1)), nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(free()));
}

TEST_F(Spool, HalfClearedDirectoriesAreRemovedAtStart) {
  std::filesystem::create_directories(free() + "/7.1");
  ASSERT_TRUE(os::replace_file(free() + "/7.1/intent", "old"));
  spool.reset();
  spool = std::move(*FileSpool::open(path));
  EXPECT_TRUE(std::filesystem::is_empty(free()));
}

// Regression: an entry after half a line was lost, and with it the record that an attempt must not run again.
TEST_F(Spool, PartialAppendIsUndone) {
  ASSERT_TRUE(spool->remember_forgotten(attempt(1), Fence{10}));
  ASSERT_TRUE(spool->remember_forgotten(attempt(2), Fence{20}));
  const auto before = std::filesystem::file_size(path + "/forgotten");
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit tight{before + 3, old.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const Status kept = spool->remember_forgotten(attempt(3), Fence{30});
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, handler);
  EXPECT_FALSE(kept);
  EXPECT_EQ(std::filesystem::file_size(path + "/forgotten"), before);
  ASSERT_TRUE(spool->remember_forgotten(attempt(3), Fence{30}));
  ASSERT_TRUE(spool->remember_forgotten(attempt(4), Fence{40}));
  EXPECT_EQ(spool->forgotten()->size(), 4u);
  EXPECT_EQ(spool->forgotten()->back(), (std::pair{attempt(4), Fence{40}}));
}

TEST_F(Spool, TruncatedLineHidesNoLaterLine) {
  spool.reset();
  ASSERT_TRUE(os::replace_file(path + "/forgotten", "1.1 10\n2.1 2"));
  spool = std::move(*FileSpool::open(path));
  ASSERT_TRUE(spool->remember_forgotten(attempt(3), Fence{30}));
  const std::vector<std::pair<AttemptKey, Fence>> expected = {{attempt(1), Fence{10}},
                                                              {attempt(3), Fence{30}}};
  EXPECT_EQ(*spool->forgotten(), expected);
}

TEST_F(Spool, ExistingDirectoryIsOpenedAndNotReplaced) {
  { auto gone = std::move(*spool->create(attempt(1))); }
  ASSERT_TRUE(spool->remove(attempt(1)));
  ASSERT_TRUE((*spool->create(attempt(2)))->create(Record::intent, "mine"));
  ASSERT_TRUE(spool->remove(attempt(3)));  // does not exist: no error
  EXPECT_TRUE((*spool->create(attempt(2)))->has(Record::intent));
}

}  // namespace
}  // namespace ares::exec
