// Tests: exec_abi
#include "plugin/loader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace ares::plugin {
namespace {

class Loader : public ::testing::Test {
 protected:
  Loader() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-plugin-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
    file = directory + "/exec_mock.so";
    std::filesystem::copy_file(ARES_MOCK_PLUGIN, file);
    ::chmod(file.c_str(), 0755);
  }
  ~Loader() override { std::filesystem::remove_all(directory); }

  std::string refusal() {
    Result<LoadedExecPlugin> loaded = load_exec_plugin(file);
    return loaded ? "" : loaded.error().message;
  }

  std::string directory, file;
};

TEST_F(Loader, LoadsAndOpensTheMockPlugin) {
  Result<LoadedExecPlugin> loaded = load_exec_plugin(file);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_STREQ(loaded->plugin->name, "mock");
  ares_exec_host host{};
  host.size = sizeof host;
  char error[200] = "";
  void* self = loaded->plugin->open(&host, error, sizeof error);
  ASSERT_NE(self, nullptr) << error;
  EXPECT_EQ(loaded->plugin->next_deadline_us(self), ARES_EXEC_NONE);
  loaded->plugin->close(self);

  const std::string wrong = "start_delay_ms soon\n";
  host.options = {wrong.data(), wrong.size()};
  EXPECT_EQ(loaded->plugin->open(&host, error, sizeof error), nullptr);
  EXPECT_NE(std::string(error).find("start_delay_ms"), std::string::npos);
}

TEST_F(Loader, RefusesAFileThatOthersMayWrite) {
  ::chmod(file.c_str(), 0775);
  EXPECT_NE(refusal().find("chmod"), std::string::npos);
  ::chmod(file.c_str(), 0757);
  EXPECT_NE(refusal().find("chmod"), std::string::npos);
  ::chmod(file.c_str(), 0755);
  ::chmod(directory.c_str(), 0777);
  EXPECT_NE(refusal().find("chmod"), std::string::npos);
}

TEST_F(Loader, RefusesAFileOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file away";
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_NE(refusal().find("65534"), std::string::npos);
}

TEST_F(Loader, ChecksTheTargetOfALink) {
  const std::string link = directory + "/link.so";
  std::filesystem::create_symlink(file, link);
  EXPECT_TRUE(load_exec_plugin(link));
  ::chmod(file.c_str(), 0777);
  EXPECT_FALSE(load_exec_plugin(link));
}

TEST_F(Loader, NamesAMissingFileOrSymbol) {
  EXPECT_EQ(load_exec_plugin(directory + "/none.so").error().code, ErrorCode::not_found);
  std::filesystem::remove(file);
  std::filesystem::copy_file("/proc/self/exe", file);
  ::chmod(file.c_str(), 0755);
  EXPECT_FALSE(refusal().empty());
}

TEST(CheckExecPlugin, RefusesAnotherVersionAndAShorterTable) {
  ares_exec_plugin plugin{};
  plugin.abi_version = ARES_EXEC_ABI_VERSION;
  plugin.size = sizeof plugin;
  EXPECT_TRUE(check_exec_plugin(&plugin, "x"));
  plugin.abi_version = ARES_EXEC_ABI_VERSION + 1;
  EXPECT_NE(check_exec_plugin(&plugin, "x").error().message.find("version"), std::string::npos);
  plugin.abi_version = ARES_EXEC_ABI_VERSION;
  plugin.size = offsetof(ares_exec_plugin, checkpoint_known) + sizeof(void*);
  EXPECT_TRUE(check_exec_plugin(&plugin, "x"));
  plugin.size = offsetof(ares_exec_plugin, checkpoint_known);
  EXPECT_FALSE(check_exec_plugin(&plugin, "x"));
  EXPECT_FALSE(check_exec_plugin(nullptr, "x"));
}

}  // namespace
}  // namespace ares::plugin
