#include "base/clip.h"

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(Clip, ShortTextIsKept) {
  EXPECT_EQ(clip("", 10), "");
  EXPECT_EQ(clip("ten bytes.", 10), "ten bytes.");
}

TEST(Clip, CutIsMarkedByDots) {
  EXPECT_EQ(clip("eleven byte", 10), "eleven ...");
  EXPECT_EQ(clip(std::string(5000, 'x')).size(), kLongestCause);
}

TEST(Clip, NeverCutsWithinACharacter) {
  const std::string text = "aä€😀aä€😀aä€😀";
  for (std::size_t most = 3; most < text.size(); ++most) {
    const std::string clipped = clip(text, most);
    ASSERT_LE(clipped.size(), most);
    ASSERT_TRUE(clipped.ends_with("...")) << clipped;
    const std::size_t kept = clipped.size() - 3;
    EXPECT_EQ(clipped.substr(0, kept), text.substr(0, kept));
    EXPECT_NE(static_cast<unsigned char>(text[kept]) & 0xc0U, 0x80U) << "cut at " << kept;
    EXPECT_GE(kept + 6, most) << "no more is lost than a character";
  }
}

TEST(Clip, TextThatIsNotUtf8IsCutAnywhere) {
  EXPECT_GE(clip(std::string(1000, '\x80'), 100).size(), 97u);
}

}  // namespace
}  // namespace ares
