// Tests: checkpoint/store, digest
#include "checkpoint/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "node/checkpoint_fields.h"

namespace ares::checkpoint {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Store : public testing::Test {
 protected:
  Store() {
    char path[] = "/tmp/ares-checkpoint-XXXXXX";
    top_ = ::mkdtemp(path);
  }
  ~Store() override { fs::remove_all(top_); }

  std::string saved(const std::string& text = "weights") {
    const std::string from = top_ + "/new";
    fs::create_directories(from + "/inner");
    std::ofstream(from + "/inner/model") << text;
    std::ofstream(from + "/empty");
    return from;
  }
  Published published(std::uint64_t sequence, std::uint32_t attempt = 1) {
    auto made = publish(saved(), top_, header(sequence, attempt));
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(Published{});
  }
  static Manifest header(std::uint64_t sequence, std::uint32_t attempt = 1) {
    Manifest manifest;
    manifest.job = "12";
    manifest.attempt = attempt;
    manifest.sequence = sequence;
    manifest.fields = {{"step", "4000"}};
    return manifest;
  }
  std::string top_;
};

TEST_F(Store, PublishedCheckpointIsRenamedAndVerifies) {
  const Published made = published(7, 2);
  EXPECT_EQ(made.path, top_ + "/000007.2");
  EXPECT_EQ(made.size, Bytes(7));
  EXPECT_FALSE(fs::exists(top_ + "/new"));
  const auto manifest = verify(made.path, made.manifest);
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->files.size(), 2u);
  EXPECT_EQ(manifest->files[0].path, "empty");
  EXPECT_EQ(manifest->files[1].path, "inner/model");
  EXPECT_EQ(manifest->fields.at("step"), "4000");
}

// The vector of FIPS 180-2 for "abc".
TEST_F(Store, DigestIsSha256) {
  std::ofstream(top_ + "/abc") << "abc";
  const auto found = digest_of_file(top_ + "/abc");
  ASSERT_TRUE(found);
  EXPECT_EQ(node::hex_of(found->digest),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(found->digest, digest_of_text("abc"));
}

TEST_F(Store, ChangedFileOfTheSameLengthIsFound) {
  const Published made = published(1);
  std::ofstream(made.path + "/inner/model") << "weightz";
  EXPECT_THAT(verify(made.path, made.manifest).error().message, HasSubstr("is damaged"));
}

TEST_F(Store, ShorterFileIsFound) {
  const Published made = published(1);
  fs::resize_file(made.path + "/inner/model", 3);
  EXPECT_THAT(verify(made.path, made.manifest).error().message, HasSubstr("3 bytes instead of 7"));
}

TEST_F(Store, MissingAndAddedFilesAreFound) {
  const Published made = published(1);
  std::ofstream(made.path + "/more") << "x";
  EXPECT_THAT(verify(made.path, made.manifest).error().message, HasSubstr("was added"));
  fs::remove(made.path + "/more");
  fs::remove(made.path + "/empty");
  EXPECT_THAT(verify(made.path, made.manifest).error().message, HasSubstr("cannot read"));
}

TEST_F(Store, AnotherManifestIsNotTheCommittedOne) {
  const Published first = published(1);
  const Published second = published(2);
  EXPECT_THAT(verify(first.path, second.manifest).error().message,
              HasSubstr("is not the one that was committed"));
  EXPECT_TRUE(verify(first.path)) << "it is consistent in itself";
}

TEST_F(Store, LinksAreRefusedAndNothingIsPublished) {
  const std::string from = saved();
  fs::create_symlink("/etc/passwd", from + "/link");
  EXPECT_THAT(publish(from, top_, header(1)).error().message, HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::exists(from + "/inner/model"));
  EXPECT_TRUE(list(top_)->empty());
}

TEST_F(Store, FileReplacedByALinkDoesNotVerify) {
  const Published made = published(1);
  fs::rename(made.path + "/inner/model", top_ + "/elsewhere");
  fs::create_symlink(top_ + "/elsewhere", made.path + "/inner/model");
  EXPECT_FALSE(verify(made.path, made.manifest));
}

TEST_F(Store, EmptyDirectoryAndMissingOneAreRefused) {
  fs::create_directories(top_ + "/new");
  EXPECT_THAT(publish(top_ + "/new/", top_, header(1)).error().message, HasSubstr("has no files"));
  EXPECT_EQ(publish(top_ + "/none", top_, header(1)).error().code, ErrorCode::not_found);
}

TEST_F(Store, PublishedOneIsNeverReplaced) {
  const Published made = published(1);
  EXPECT_FALSE(publish(saved("other"), top_, header(1)));
  EXPECT_TRUE(verify(made.path, made.manifest));
  EXPECT_TRUE(fs::exists(top_ + "/new/inner/model"));
}

TEST_F(Store, OnlyCheckpointsOlderThanTheKeptOnesAreRemoved) {
  for (const std::uint64_t sequence : {1, 2, 3}) published(sequence);
  published(2, 2);
  saved();
  fs::create_directories(top_ + "/1.1");
  remove_older(top_, 2);
  EXPECT_THAT(*list(top_), ElementsAre(top_ + "/000002.1", top_ + "/000002.2", top_ + "/000003.1"));
  EXPECT_TRUE(fs::exists(top_ + "/new")) << "not a checkpoint";
  EXPECT_TRUE(fs::exists(top_ + "/1.1")) << "not the name of one";
}

}  // namespace
}  // namespace ares::checkpoint
