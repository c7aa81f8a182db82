// Tests: abcast/receive, arun/broadcast
#include "abcast/receive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "auth/sha256.h"

namespace ares::abcast {
namespace {

namespace fs = std::filesystem;

class Receive : public testing::Test {
 protected:
  Receive() : folder_(fs::temp_directory_path() / ("ares-receive-" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
    delivery_.destination = (folder_ / "file").string();
    auth::Sha256 digest;
    digest.add(kText);
    delivery_.sha256 = digest.hex();
    delivery_.size = kText.size();
  }
  ~Receive() override { fs::remove_all(folder_); }

  // What abcast sends is the input of the program.
  Status take(std::string_view text) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    const int kept = ::dup(0);
    ::dup2(ends[0], 0);
    ::close(ends[0]);
    Status status = receive(delivery_);
    ::dup2(kept, 0);
    ::close(kept);
    return status;
  }
  // More than a pipe holds.
  Status take_large(const std::string& text) {
    const std::string path = (folder_ / "sent").string();
    std::ofstream(path, std::ios::binary) << text;
    const int kept = ::dup(0);
    const int file = ::open(path.c_str(), O_RDONLY);
    ::dup2(file, 0);
    ::close(file);
    Status status = receive(delivery_);
    ::dup2(kept, 0);
    ::close(kept);
    return status;
  }
  std::string content() const {
    std::ifstream file(delivery_.destination);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  static constexpr std::string_view kText = "whole";
  fs::path folder_;
  Delivery delivery_;
};

TEST_F(Receive, PublishesAWholeFileWithModeAndTimes) {
  delivery_.mode = 0751;
  delivery_.access = 1000;
  delivery_.change = 2000;
  ASSERT_TRUE(take(kText));
  EXPECT_EQ(content(), kText);
  struct stat facts {};
  ASSERT_EQ(::stat(delivery_.destination.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0751u);
  EXPECT_EQ(facts.st_mtim.tv_sec, 2000);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Receive, LeavesNothingOfAFileThatIsNotWhole) {
  for (const char* text : {"who", "whole and more", "wHole"}) {
    const Status taken = take(text);
    ASSERT_FALSE(taken) << text;
    EXPECT_EQ(taken.error().code, ErrorCode::data_loss);
    EXPECT_EQ(files(), 0u);
  }
}

TEST_F(Receive, UnpacksWhatWasCompressed) {
  std::string text(300'000, 'a');
  for (std::size_t i = 0; i < text.size(); i += 7) text[i] = static_cast<char>(i * 31);
  const std::string original = (folder_ / "original").string();
  std::ofstream(original, std::ios::binary) << text;
  const auto source = arun::open_source(original);
  ASSERT_TRUE(source);
  auto compressor = arun::compress(source->fd.get());
  ASSERT_TRUE(compressor);
  std::string packed;
  char part[4096];
  for (ssize_t n; (n = ::read(compressor->output.get(), part, sizeof part)) > 0;)
    packed.append(part, static_cast<std::size_t>(n));
  EXPECT_TRUE(arun::has_succeeded(*compressor));
  EXPECT_LT(packed.size(), text.size());

  delivery_ = arun::delivery_of(*source, delivery_.destination, false);
  delivery_.compressed = true;
  ASSERT_TRUE(take_large(packed));
  EXPECT_EQ(content(), text);
  fs::remove(delivery_.destination);
  packed[packed.size() / 2] ^= 1;
  EXPECT_FALSE(take_large(packed));
  EXPECT_FALSE(take_large(text)) << "not compressed at all";
  EXPECT_FALSE(fs::exists(delivery_.destination));
}

TEST_F(Receive, RemovesACopyOnce) {
  ASSERT_TRUE(take(kText));
  const auto path = path_to_remove(arun::words_to_remove(delivery_.destination));
  ASSERT_TRUE(path);
  EXPECT_TRUE(remove(*path));
  EXPECT_TRUE(remove(*path)) << "nodes may share the file";
  EXPECT_FALSE(path_to_remove(words_of(delivery_)));
}

TEST_F(Receive, ReplacesAFileOnlyIfForced) {
  std::ofstream(delivery_.destination) << "before";
  EXPECT_FALSE(take(kText));
  EXPECT_EQ(content(), "before");
  delivery_.force = true;
  EXPECT_FALSE(take("broken"));
  EXPECT_EQ(content(), "before");
  ASSERT_TRUE(take(kText));
  EXPECT_EQ(content(), kText);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Receive, WordsOfTheCommandLineSayTheSame) {
  delivery_.force = true;
  delivery_.access = delivery_.change = 5;
  const auto read = read_delivery(words_of(delivery_));
  ASSERT_TRUE(read);
  EXPECT_EQ(words_of(*read), words_of(delivery_));
  EXPECT_FALSE(read_delivery({"file"}));
  EXPECT_FALSE(read_delivery({"file", "x", "00", "420", "new"}));
}

}  // namespace
}  // namespace ares::abcast
