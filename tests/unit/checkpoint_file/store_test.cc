// Tests: checkpoint/digest, checkpoint/tree, checkpoint/uri, checkpoint/backend, checkpoint/adapter/table, checkpoint/adapter/convert
#include "checkpoint/file/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "checkpoint/adapter/plugin_backend.h"
#include "checkpoint/file/plugin.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tree.h"
#include "checkpoint/uri.h"
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
    // Through the interface of plugins, as acheckpoint calls it.
    auto opened = PluginBackend::open(*file::plugin(), "", nullptr);
    if (opened) backend_ = std::move(*opened);
  }
  ~Store() override { fs::remove_all(top_); }

  std::string saved(const std::string& text = "weights") {
    const std::string from = top_ + "/new";
    fs::create_directories(from + "/inner");
    std::ofstream(from + "/inner/model") << text;
    std::ofstream(from + "/empty");
    return from;
  }
  struct Published {
    std::string path;
    Digest manifest{};
    Bytes size{};
  };
  Result<Published> publish(const std::string& from, const Manifest& header) {
    const auto described = describe(from, header, true);
    if (!described) return fail(described.error());
    const std::string path = top_ + "/" + directory_name(header.sequence, header.attempt);
    if (Status done = backend_->publish(from, path, described->manifest); !done)
      return fail(done.error());
    return Published{path, described->digest, described->size};
  }
  Published published(std::uint64_t sequence, std::uint32_t attempt = 1) {
    auto made = publish(saved(), header(sequence, attempt));
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(Published{});
  }
  Result<std::string> verify(const std::string& path, std::optional<Digest> digest = {}) {
    return backend_->verify(path, digest);
  }
  Result<std::vector<std::string>> list() { return backend_->list(top_); }
  static Manifest header(std::uint64_t sequence, std::uint32_t attempt = 1) {
    Manifest manifest;
    manifest.job = "12";
    manifest.attempt = attempt;
    manifest.sequence = sequence;
    manifest.fields = {{"step", "4000"}};
    return manifest;
  }
  std::string top_;
  std::unique_ptr<Backend> backend_;
};

TEST_F(Store, PublishedCheckpointIsRenamedAndVerifies) {
  const Published made = published(7, 2);
  EXPECT_EQ(made.path, top_ + "/000007.2");
  EXPECT_EQ(made.size, Bytes(7));
  EXPECT_FALSE(fs::exists(top_ + "/new"));
  const auto text = verify(made.path, made.manifest);
  ASSERT_TRUE(text) << text.error().message;
  const auto manifest = from_json(*text);
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
  EXPECT_THAT(publish(from, header(1)).error().message, HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::exists(from + "/inner/model"));
  EXPECT_TRUE(list()->empty());
}

TEST_F(Store, FileReplacedByALinkDoesNotVerify) {
  const Published made = published(1);
  fs::rename(made.path + "/inner/model", top_ + "/elsewhere");
  fs::create_symlink(top_ + "/elsewhere", made.path + "/inner/model");
  EXPECT_FALSE(verify(made.path, made.manifest));
}

TEST_F(Store, EmptyDirectoryAndMissingOneAreRefused) {
  fs::create_directories(top_ + "/new");
  EXPECT_THAT(publish(top_ + "/new/", header(1)).error().message, HasSubstr("has no files"));
  EXPECT_EQ(publish(top_ + "/none", header(1)).error().code, ErrorCode::not_found);
}

TEST_F(Store, PublishedOneIsNeverReplaced) {
  const Published made = published(1);
  EXPECT_FALSE(publish(saved("other"), header(1)));
  EXPECT_TRUE(verify(made.path, made.manifest));
  EXPECT_TRUE(fs::exists(top_ + "/new/inner/model"));
}

TEST_F(Store, OnlyCheckpointsOlderThanTheKeptOnesAreRemoved) {
  for (const std::uint64_t sequence : {1, 2, 3}) published(sequence);
  published(2, 2);
  saved();
  fs::create_directories(top_ + "/1.1");
  EXPECT_TRUE(backend_->remove_older(top_, 2));
  EXPECT_THAT(*list(), ElementsAre(top_ + "/000002.1", top_ + "/000002.2", top_ + "/000003.1"));
  EXPECT_TRUE(fs::exists(top_ + "/new")) << "not a checkpoint";
  EXPECT_TRUE(fs::exists(top_ + "/1.1")) << "not the name of one";
}

TEST_F(Store, FetchedCopyIsTheSameAndDamagedOnesAreNotCopied) {
  const Published made = published(1);
  ASSERT_TRUE(backend_->fetch(made.path, made.manifest, top_ + "/copy"));
  EXPECT_TRUE(verify(top_ + "/copy", made.manifest));
  EXPECT_THAT(backend_->fetch(made.path, made.manifest, top_ + "/copy").error().message,
              HasSubstr("it exists"));
  EXPECT_TRUE(verify(top_ + "/copy", made.manifest)) << "it was there before";
  std::ofstream(made.path + "/inner/model") << "weightz";
  EXPECT_EQ(backend_->fetch(made.path, made.manifest, top_ + "/other").error().code,
            ErrorCode::data_loss);
  EXPECT_FALSE(fs::exists(top_ + "/other"));
}

TEST_F(Store, WithdrawnCheckpointIsTheDirectoryThatItWas) {
  const Published made = published(1);
  ASSERT_TRUE(backend_->withdraw(made.path, top_ + "/new"));
  EXPECT_TRUE(fs::exists(top_ + "/new/inner/model"));
  EXPECT_TRUE(list()->empty());
}

TEST(CheckpointUri, SchemeIsThatOfTheUriAndAPathHasNone) {
  EXPECT_EQ(scheme_of("s3://bucket/x"), "s3");
  EXPECT_EQ(scheme_of("/a/b"), "");
  EXPECT_EQ(scheme_of("/a://b"), "") << "a path";
  EXPECT_EQ(name_of("s3://bucket/12/000007.2"), "000007.2");
  EXPECT_THAT(in_order({"s3://b/000010.1", "s3://b/000009.2", "s3://b/x", "s3://b/000009.1"}),
              ElementsAre("s3://b/000009.1", "s3://b/000009.2", "s3://b/000010.1"));
}

}  // namespace
}  // namespace ares::checkpoint
