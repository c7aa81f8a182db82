// Tests: plugin_fields
// The section `scheduler` of ares.yaml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/diff.h"
#include "config/read.h"

namespace ares::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBase =
    "nodes:\n  - {name: n1, cpus: 4}\npartitions:\n  - {name: main, nodes: ALL}\n";

Result<Config> read(const std::string& scheduler) {
  return read_config(kBase + scheduler, "ares.yaml", [](const std::string& name) {
    return name == "root" ? std::optional(UserId(0)) : std::nullopt;
  });
}

std::string problem(const std::string& scheduler) {
  const auto config = read(scheduler);
  return config ? "" : config.error().message;
}

const std::string kTwo =
    "scheduler:\n"
    "  plugin_timeout: 3\n"
    "  plugins:\n"
    "    - {name: a, path: /p/a.so, partitions: [main], options: {links: 2, \"x y\": \"#z\"}}\n"
    "    - {name: b, path: /p/b.so}\n";

TEST(SchedulerSection, PrintedSectionReadsTheSame) {
  const auto config = read(kTwo);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->scheduler.plugin_timeout, Seconds(3));
  ASSERT_EQ(config->scheduler.plugins.size(), 2u);
  const PluginConfig& a = config->scheduler.plugins[0];
  EXPECT_EQ(a.path, "/p/a.so");
  EXPECT_THAT(a.partitions, ElementsAre("main"));
  EXPECT_EQ(a.options.at("links"), "2");
  EXPECT_EQ(a.options.at("x y"), "#z");
  EXPECT_EQ(a.line, 8);
  const std::string printed = to_yaml(*config);
  const auto again = read_config(printed, "again", [](const std::string&) { return UserId(0); });
  ASSERT_TRUE(again) << again.error().message << printed;
  EXPECT_EQ(to_yaml(*again), printed);
  EXPECT_EQ(again->scheduler.plugins[0].options, a.options);
}

TEST(SchedulerSection, ErrorsNameTheLine) {
  const std::string begin = "scheduler:\n  plugins:\n    - ";
  EXPECT_EQ(problem(begin + "{name: a, path: a.so}\n"),
            "ares.yaml:7: plugins: path: \"a.so\" is not the absolute path of a plugin");
  EXPECT_THAT(problem(begin + "{name: a}\n"),
              HasSubstr("ares.yaml:7: plugins: \"path\" is missing"));
  EXPECT_THAT(problem(begin + "{name: a, path: /a, option: {}}\n"),
              HasSubstr("did you mean \"options\"?"));
  EXPECT_THAT(problem(begin + "{name: a, path: /a}\n    - {name: a, path: /b}\n"),
              HasSubstr("ares.yaml:8: plugins: plugin \"a\" is described a second time"));
  EXPECT_THAT(problem(begin + "{name: a, path: /a, partitions: [mian]}\n"),
              HasSubstr("ares.yaml:7: plugin \"a\": there is no partition \"mian\"; did you mean "
                        "\"main\"?"));
  EXPECT_THAT(problem("scheduler: {plugin_timeout: 0}\n"), HasSubstr("plugin_timeout"));
}

TEST(SchedulerSection, OnlyTheTimeoutNeedsARestart) {
  const auto before = read(kTwo), none = read("");
  const auto after =
      read("scheduler:\n  plugins:\n    - {name: a, path: /p/a.so, options: {links: 4}}\n");
  ASSERT_TRUE(before && none && after);
  std::vector<std::string> rows;
  for (const Change& c : diff(*before, before->partitions, *after))
    rows.push_back(c.subject + "|" + c.field + "|" + c.before + "|" + c.after +
                   (c.effect == TakesEffect::at_once ? "" : "|later"));
  EXPECT_THAT(rows,
              ElementsAre("scheduler|plugin_timeout|3|10|later", HasSubstr("plugin a|partitions|"),
                          HasSubstr("plugin a|options|"), HasSubstr("plugin b||{name:")));
  EXPECT_EQ(keep_until_restart(*before, *after).scheduler.plugin_timeout, Seconds(3));
  EXPECT_EQ(keep_until_restart(*before, *after).scheduler.plugins.size(), 1u);
  EXPECT_TRUE(diff(*none, none->partitions, *none).empty());
}

}  // namespace
}  // namespace ares::config
