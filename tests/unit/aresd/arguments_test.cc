#include "aresd/arguments.h"

#include <getopt.h>
#include <gtest/gtest.h>

#include <vector>

namespace ares::aresd {
namespace {

Result<Arguments> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "aresd");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::optind = 0;  // another command line
  return parse_arguments(static_cast<int>(words.size()), pointers.data());
}

TEST(Arguments, NameNodesAndFiles) {
  const auto given = parse({"--config", "/etc/a.yaml", "--node", "n[1-3]", "--join"});
  ASSERT_TRUE(given);
  EXPECT_EQ(given->config, "/etc/a.yaml");
  EXPECT_EQ(given->nodes, "n[1-3]");
  EXPECT_TRUE(given->join);
  EXPECT_TRUE(given->discover.empty());
  EXPECT_EQ(parse({"--discover"})->discover, "auto");
  EXPECT_EQ(parse({"--discover=nvml"})->discover, "nvml");
  const std::string own = parse({})->nodes;
  EXPECT_FALSE(own.empty());
  EXPECT_EQ(own.find('.'), std::string::npos) << "the name of the machine without its domain";
}

TEST(Arguments, OthersAreRefused) {
  EXPECT_EQ(parse({"--node", "n1", "n2"}).error().message, "unexpected argument n2");
  EXPECT_EQ(parse({"--no-such-option"}).error().message, "see aresd --help");
}

}  // namespace
}  // namespace ares::aresd
