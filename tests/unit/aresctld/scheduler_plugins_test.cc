// Scheduler plugins of the controller: a plugin that crashes or hangs ends the process, is
// recorded, and is set aside until its file changes.
#include "aresctld/plugins/scheduler_plugins.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "aresctld/plugins/plugin_guard.h"

namespace ares::aresctld {
namespace {

// Sanitizers have handlers for fatal signals; their output is not what is tested here.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#define SKIP_IF_SANITIZED() \
  if (kSanitized) GTEST_SKIP() << "sanitizers handle fatal signals themselves"

class SchedulerPluginsTest : public ::testing::Test {
 protected:
  SchedulerPluginsTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // the watchdog has a thread
    // A death test runs the whole test again in another process, which must use the same directory.
    const char* given = std::getenv("ARES_TEST_PLUGINS_DIR");
    owner_ = given == nullptr;
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-plugin-XXXXXX").string();
    directory = given ? given : ::mkdtemp(pattern.data());
    ::setenv("ARES_TEST_PLUGINS_DIR", directory.c_str(), 1);
    file = directory + "/misbehaving.so";
    record = directory + "/plugins-set-aside";
    if (owner_) std::filesystem::copy_file(ARES_MISBEHAVING_PLUGIN, file);
    if (owner_) ::chmod(file.c_str(), 0755);
    config.path = "ares.yaml";
    config.scheduler.plugin_timeout = Seconds(1);
    job.spec = std::make_shared<const JobSpec>(JobSpec{});
    node.name = "n1";
  }
  ~SchedulerPluginsTest() override {
    if (!owner_) return;
    ::unsetenv("ARES_TEST_PLUGINS_DIR");
    std::filesystem::remove_all(directory);
  }

  void add(const std::string& name, const std::string& how, int line = 7) {
    config.scheduler.plugins.push_back({name, file, {}, {{"how", how}}, line});
  }

  // Whether the plugins allow its only node to a job with this comment.
  bool ask(const SharedPlugins& plugins, const std::string& comment) {
    JobSpec spec;
    spec.comment = comment;
    job.spec = std::make_shared<const JobSpec>(spec);
    const PluginNode row{&node, &node.inventory, 1, 1, {}, nullptr};
    Bitset allowed(1, true);
    plugins.value->filter(0, {&job, &partition}, {&row, 1}, allowed, nullptr);
    return allowed.test(0);
  }

  void load_and_ask(const std::string& comment) {
    SchedulerPlugins plugins(record);
    const auto loaded = plugins.load(config);
    if (!loaded) std::exit(9);
    ask(*loaded, comment);
    std::exit(0);
  }

  std::string recorded() const {
    std::ifstream in(record);
    std::string line;
    std::getline(in, line);
    return line;
  }

  bool owner_ = false;
  std::string directory, file, record;
  config::Config config;
  Job job;
  Partition partition;
  Node node;
};

struct Death {
  const char* how;
  int signal;
  const char* cause;
};

class PluginDeath : public SchedulerPluginsTest, public ::testing::WithParamInterface<Death> {};

TEST_P(PluginDeath, IsRecordedAndSetAsideUntilTheFileChanges) {
  SKIP_IF_SANITIZED();
  add("bad", GetParam().how);
  EXPECT_EXIT(load_and_ask("misbehave"), ::testing::KilledBySignal(GetParam().signal), "");
  EXPECT_EQ(recorded().substr(0, 4), "bad ");
  EXPECT_NE(recorded().find(std::string(" ") + GetParam().cause + " "), std::string::npos);

  SchedulerPlugins plugins(record);
  auto loaded = plugins.load(config);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_FALSE(loaded->value);
  config.policy.plugins = *loaded;
  const api::Plugins list = plugins.list(config);
  EXPECT_EQ(list.plugins(0).set_aside(), GetParam().cause);
  EXPECT_EQ(set_aside_text(list),
            std::string("scheduler plugin bad is set aside: ") + GetParam().cause);

  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) + std::chrono::seconds(1));
  loaded = plugins.load(config);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(loaded->value);
  EXPECT_TRUE(ask(*loaded, "good"));
  config.policy.plugins = *loaded;
  EXPECT_EQ(plugins.list(config).plugins(0).stages(), "filter");
}

INSTANTIATE_TEST_SUITE_P(All, PluginDeath,
                         ::testing::Values(Death{"crash", SIGSEGV, "SIGSEGV"},
                                           Death{"overflow", SIGSEGV, "SIGSEGV"},
                                           Death{"abort", SIGABRT, "SIGABRT"},
                                           Death{"throw", SIGABRT, "SIGABRT"}),
                         [](const auto& param) { return param.param.how; });

TEST_F(SchedulerPluginsTest, HangIsRecordedToo) {
  SKIP_IF_SANITIZED();
  add("slow", "hang");
  EXPECT_EXIT(load_and_ask("misbehave"), ::testing::ExitedWithCode(3), "");
  EXPECT_NE(recorded().find(" hang "), std::string::npos);
}

TEST_F(SchedulerPluginsTest, CrashOutsideOfPluginsBlamesNoPlugin) {
  SKIP_IF_SANITIZED();
  add("good", "none");
  const auto crash = [&] {
    SchedulerPlugins plugins(record);
    const auto loaded = plugins.load(config);
    if (loaded && ask(*loaded, "good")) std::abort();
  };
  EXPECT_EXIT(crash(), ::testing::KilledBySignal(SIGABRT), "");
  EXPECT_EQ(recorded(), "");
}

TEST_F(SchedulerPluginsTest, OtherPluginsStayIfOneIsSetAside) {
  SKIP_IF_SANITIZED();
  add("bad", "crash");
  add("picky", "refuse");
  EXPECT_EXIT(load_and_ask("misbehave"), ::testing::KilledBySignal(SIGSEGV), "");
  SchedulerPlugins plugins(record);
  const auto loaded = plugins.load(config);
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->value->facts().size(), 1u);
  EXPECT_EQ(loaded->value->facts()[0].name, "picky");
  EXPECT_FALSE(ask(*loaded, "misbehave"));
}

TEST_F(SchedulerPluginsTest, SameConfigurationKeepsTheSameSet) {
  add("a", "none");
  SchedulerPlugins plugins(record);
  const auto first = plugins.load(config);
  const auto again = plugins.load(config);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(*first, *again);
  config.scheduler.plugins[0].options["how"] = "refuse";
  const auto other = plugins.load(config);
  ASSERT_TRUE(other);
  EXPECT_FALSE(*first == *other);
  EXPECT_TRUE(ask(*first, ""));
  EXPECT_FALSE(ask(*other, ""));
  config.scheduler.plugins.clear();
  EXPECT_FALSE(plugins.load(config)->value);
}

TEST_F(SchedulerPluginsTest, RefusalNamesFileLineAndPlugin) {
  add("a", "none", 12);
  ::chmod(file.c_str(), 0777);
  const auto loaded = SchedulerPlugins(std::string()).load(config);
  ASSERT_FALSE(loaded);
  EXPECT_TRUE(
      loaded.error().message.starts_with("ares.yaml:12: scheduler plugin \"a\": plugin refused: "))
      << loaded.error().message;
}

}  // namespace
}  // namespace ares::aresctld
