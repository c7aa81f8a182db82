// The planner still makes the same plans: their digests for recorded logs and random clusters equal
// those in plan_digests.txt. A change that alters plans on purpose writes that file again:
//
//   ARES_WRITE_PLAN_DIGESTS=1 test_property --gtest_filter='PlanDigest.*'
//
// ARES_PLAN_STRUCTURES=FOLDER writes the structures behind the digests there. If a plan differs
// that should not, write the structures of both builds and compare them by diff: plan_digest.cc
// shows what the words of a line are.
#include "property/plan_digest.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

namespace ares::property {
namespace {

constexpr const char* kGolden = ARES_SOURCE_DIR "/tests/property/plan_digests.txt";

// For each name its digests: of the plan, and of the state that it was made from.
std::map<std::string, std::pair<std::string, std::string>> parse(const std::string& text) {
  std::map<std::string, std::pair<std::string, std::string>> digests;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    auto& [plan, input] = digests[name];
    words >> plan >> input;
  }
  return digests;
}

TEST(PlanDigest, EqualsTheGoldenFile) {
  const char* folder = std::getenv("ARES_PLAN_STRUCTURES");
  PlanDigests made(folder ? folder : "");
  add_random_lives(made);
  add_recorded_logs(made);
  if (std::getenv("ARES_WRITE_PLAN_DIGESTS")) {
    std::ofstream file(kGolden);
    file << made.text();
    ASSERT_TRUE(file.flush());
  }
  std::ifstream file(kGolden);
  const auto golden = parse({std::istreambuf_iterator<char>(file), {}});
  const auto now = parse(made.text());
  std::ostringstream other;
  std::size_t others = 0;
  for (const auto& [name, digests] : golden) {
    const auto found = now.find(name);
    if (found != now.end() && found->second == digests) continue;
    if (++others > 10) continue;
    other << name
          << (found == now.end()                       ? " is no longer made\n"
              : found->second.second != digests.second ? " is planned from another state\n"
                                                       : " has another plan\n");
  }
  EXPECT_EQ(others, 0u) << "of " << golden.size() << " digests, the first of them:\n"
                        << other.str() << "plan_digest_test.cc says how the plans are compared";
  EXPECT_EQ(now.size(), golden.size()) << "there are digests that the golden file does not have";

  // The test is void if some kind of line never occurs.
  EXPECT_GE(made.views(), 200u);
  for (const char letter : {'S', 'E', 'R', 'A', 'W'})
    EXPECT_GE(made.lines().contains(letter) ? made.lines().at(letter) : 0, 10u) << letter;
  EXPECT_GE(made.reasons().size(), 12u);
}

TEST(PlanDigest, IsReproducible) {
  PlanDigests once, again;
  add_random_lives(once);
  add_random_lives(again);
  EXPECT_EQ(once.text(), again.text());
}

}  // namespace
}  // namespace ares::property
