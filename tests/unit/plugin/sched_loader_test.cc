// Tests: sched_abi
#include "plugin/sched_loader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace ares::plugin {
namespace {

class SchedLoader : public ::testing::Test {
 protected:
  SchedLoader() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-plugin-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    file = directory + "/min_nvlink.so";
    std::filesystem::copy_file(ARES_MIN_NVLINK_PLUGIN, file);
    ::chmod(file.c_str(), 0755);
  }
  ~SchedLoader() override { std::filesystem::remove_all(directory); }

  std::string refusal() {
    auto loaded = load_sched_plugin(file);
    return loaded ? "" : loaded.error().message;
  }

  std::string directory, file;
};

TEST_F(SchedLoader, LoadsAndOpensTheExample) {
  auto loaded = load_sched_plugin(file);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ares_sched_option option{"links", "4"};
  ares_sched_host host{sizeof host, "nv", 1, &option};
  char error[200] = "";
  void* self = loaded->plugin->open(&host, error, sizeof error);
  ASSERT_NE(self, nullptr) << error;
  loaded->plugin->close(self);

  option.value = "many";
  EXPECT_EQ(loaded->plugin->open(&host, error, sizeof error), nullptr);
  EXPECT_NE(std::string(error).find("\"many\""), std::string::npos);
  option.key = "link";
  EXPECT_EQ(loaded->plugin->open(&host, error, sizeof error), nullptr);
  EXPECT_NE(std::string(error).find("\"link\""), std::string::npos);
}

TEST_F(SchedLoader, RefusesFilesThatOthersMayWriteOrOwn) {
  ::chmod(file.c_str(), 0775);
  EXPECT_NE(refusal().find("chmod go-w"), std::string::npos);
  ::chmod(file.c_str(), 0755);
  ::chmod(directory.c_str(), 0777);
  EXPECT_NE(refusal().find("chmod go-w"), std::string::npos);
  ::chmod(directory.c_str(), 0755);
  EXPECT_EQ(refusal(), "");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_NE(refusal().find("65534"), std::string::npos);
}

TEST_F(SchedLoader, NamesAMissingFileOrSymbol) {
  EXPECT_EQ(load_sched_plugin(directory + "/none.so").error().code, ErrorCode::not_found);
  std::filesystem::remove(file);
  std::filesystem::copy_file(ARES_MOCK_PLUGIN, file);  // a plugin of another kind
  ::chmod(file.c_str(), 0755);
  EXPECT_NE(refusal().find(ARES_SCHED_ENTRY_NAME), std::string::npos) << refusal();
}

TEST_F(SchedLoader, LoadsAReplacedFileWhileTheOldOneIsLoaded) {
  auto loaded = load_sched_plugin(file);
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto again = load_sched_plugin(file);
  ASSERT_TRUE(again);
  EXPECT_NE(loaded->plugin, again->plugin);
  const std::string other = directory + "/other.so";
  std::filesystem::copy_file(ARES_MOCK_PLUGIN, other);
  ::chmod(other.c_str(), 0755);
  std::filesystem::rename(other, file);
  EXPECT_NE(refusal().find(file + " has no symbol"), std::string::npos) << refusal();
  const ares_sched_host host{sizeof host, "nv", 0, nullptr};
  char error[200] = "";
  void* self = loaded->plugin->open(&host, error, sizeof error);
  EXPECT_NE(self, nullptr);
  loaded->plugin->close(self);
}

ares_sched_plugin good() {
  ares_sched_plugin plugin{};
  plugin.abi_version = ARES_SCHED_ABI_VERSION;
  plugin.size = sizeof plugin;
  plugin.open = [](const ares_sched_host*, char*, size_t) -> void* { return nullptr; };
  plugin.close = [](void*) {};
  plugin.score = [](void*, const ares_sched_job*, const ares_sched_node* const*, size_t, int64_t*) {
  };
  return plugin;
}

std::string problem(const ares_sched_plugin* plugin) {
  const Status usable = check_sched_plugin(plugin, "x.so");
  return usable ? "" : usable.error().message;
}

TEST(CheckSchedPlugin, RefusesAnotherVersionAndMissingFunctions) {
  ares_sched_plugin plugin = good();
  EXPECT_EQ(problem(&plugin), "");
  plugin.abi_version = 7;
  EXPECT_EQ(
      problem(&plugin),
      "plugin refused: x.so is built for version 7 of the scheduler's interface, this program "
      "has version 1; build it again");
  plugin = good();
  plugin.size = sizeof plugin - 1;
  EXPECT_NE(problem(&plugin).find("lacks functions"), std::string::npos);
  plugin = good();
  plugin.close = nullptr;
  EXPECT_NE(problem(&plugin).find("lacks functions"), std::string::npos);
  plugin = good();
  plugin.score = nullptr;
  EXPECT_NE(problem(&plugin).find("none of the stages"), std::string::npos);
  EXPECT_NE(problem(nullptr).find(ARES_SCHED_ENTRY_NAME), std::string::npos);
  plugin = good();
  plugin.size = sizeof plugin + 64;  // of a later release
  EXPECT_EQ(problem(&plugin), "");
}

}  // namespace
}  // namespace ares::plugin
