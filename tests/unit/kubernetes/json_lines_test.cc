#include "exec/kubernetes/api/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace ares::kubernetes {
namespace {

using testing::ElementsAre;

// The lines of a stream that arrives in parts of these sizes, and "too long" at its end if it was.
std::vector<std::string> lines(std::string_view stream, std::size_t part, std::size_t most = 100) {
  JsonLines splitter(most);
  std::vector<std::string> found;
  for (std::size_t at = 0; at < stream.size(); at += part) {
    const std::string bytes(stream.substr(at, part));
    splitter.add(bytes);
    for (;;) {
      const auto line = splitter.next();
      if (!line) {
        found.push_back("too long");
        return found;
      }
      if (!*line) break;
      found.emplace_back(**line);
    }
  }
  return found;
}

TEST(JsonLines, LinesAreTheSameHoweverTheStreamIsDivided) {
  for (std::size_t part = 1; part < 20; ++part)
    EXPECT_THAT(lines("{\"a\":1}\n\n{\"b\":2}\r\n\r\n{}\nrest", part),
                ElementsAre("{\"a\":1}", "{\"b\":2}", "{}"))
        << part;
}

TEST(JsonLines, ALongerLineEndsTheStream) {
  const std::string fits = std::string(100, 'x') + "\n";
  for (const std::size_t part : {1, 7, 100, 101, 500}) {
    EXPECT_THAT(lines(fits + fits, part), ElementsAre(std::string(100, 'x'), std::string(100, 'x')))
        << part;
    EXPECT_THAT(lines("a\n" + std::string(101, 'x'), part), ElementsAre("a", "too long")) << part;
  }
}

TEST(JsonLines, LinesMayBeLargerThanAMebibyte) {
  const std::string line(3 << 20, 'y');
  EXPECT_THAT(lines(line + "\n" + line + "\n", 16384, 8 << 20), ElementsAre(line, line));
}

}  // namespace
}  // namespace ares::kubernetes
