// Tests: common_options
// What commands answer to hostile values of their options: a refusal repeats little of them, and nothing that a terminal acts on.
#include <gtest/gtest.h>

#include "aacct/query.h"
#include "acancel/selection.h"
#include "ainfo/query.h"
#include "aqueue/query.h"
#include "areport/query.h"
#include "base/printable.h"
#include "submission/submission.h"

namespace ares {
namespace {

std::string repeated(std::string_view piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

std::vector<std::string> hostile_values() {
  return {std::string(50'000, 'x'),
          std::string(50'000, '9'),
          repeated("a,", 20'000),
          repeated("[", 20'000),
          repeated("a:", 20'000),
          repeated("1-", 20'000),
          repeated("afterok:", 5'000),
          repeated("gpu:a|", 8'000),
          "\x1b[31m",
          "csi\u009b31m",
          "\u202Etxt.sh",
          "a\u2066,b\u2069",
          "not\xffutf8",
          std::string("nul\0nul", 7)};
}

// The message of the refusal; empty: accepted.
template <class Target, class... Arguments>
std::string refusal(cli::OptionTable (*table_of)(Target&, Arguments...), const std::string& word,
                    Arguments... arguments) {
  Target target;
  const cli::OptionTable table = table_of(target, arguments...);
  const auto parsed = cli::parse_options(table, std::vector<std::string>{word});
  if (!parsed) return parsed.error().message;
  const Status applied = cli::apply_options(parsed->given);
  return applied ? "" : applied.error().message;
}

template <class Target, class... Arguments>
void check(cli::OptionTable (*table_of)(Target&, Arguments...), Arguments... arguments) {
  Target target;
  const cli::OptionTable table = table_of(target, arguments...);
  std::vector<std::string> names{"no-such-option"};
  for (const cli::Option& option : table.options)
    if (!option.name.empty() && !option.argument.empty()) names.push_back(option.name);
  EXPECT_GT(names.size(), 3u);
  for (const std::string& name : names) {
    for (const std::string& value : hostile_values()) {
      for (const std::string& word : {"--" + name + "=" + value, "--" + value}) {
        const std::string message = refusal<Target, Arguments...>(table_of, word, arguments...);
        EXPECT_LE(message.size(), kLongestQuote * 3) << "--" << name << ": " << excerpt(message);
        EXPECT_FALSE(has_control(message)) << "--" << name << ": " << excerpt(message);
        EXPECT_TRUE(is_utf8(message)) << "--" << name << ": " << excerpt(message);
      }
    }
  }
}

TEST(HostileValues, RefusalsRepeatLittleOfThem) {
  check<submission::Submission, Time>(submission::options, Time(Seconds(1'900'000'000)));
  check<aacct::Query, Time>(aacct::options, Time(Seconds(1'900'000'000)));
  check<acancel::Selection>(acancel::options);
  check<ainfo::Query>(ainfo::options);
  check<aqueue::Query>(aqueue::options);
  check<areport::Query>(areport::options);
}

}  // namespace
}  // namespace ares
