// Tests: topology/text
// Texts that are not a matrix, or a damaged one: the error has place, reason and remedy; and parsing stays fast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/topology/matrix/matrix.h"
#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Bad {
  const char* what;
  std::string text;
  const char* place;
  const char* says;
};

const std::string kHeader = "\tGPU0\tGPU1\tCPU Affinity\n";
const std::string kFirst = "GPU0\t X \tNV2\t0-3\n";

const std::vector<Bad>& bad_texts() {
  static const std::vector<Bad> all = {
      {"nothing", "", "line 1, column 1: ", "no line begins with GPU0"},
      {"something else", "No devices were found\n", "line 1, column 1: ", "nvidia-smi topo -m"},
      {"rows alone", kFirst + "GPU1\tNV2\t X \t4-7\n",
       "line 1, column 1: ", "no line with the names of the columns"},
      {"a missing line", kHeader + kFirst,
       "line 3, column 1: ", "expected the lines of GPU1: the text was cut"},
      {"a line that is cut", kHeader + kFirst + "GPU1\tNV2\n",
       "line 3, column 9: ", "the line of GPU1 ends before its column GPU1"},
      {"an unknown link", kHeader + "GPU0\t X \tPIZ\t0-3\n",
       "line 2, column 10: ", "\"PIZ\" is no link from GPU0 to GPU1; links are NV1"},
      {"no NVLinks", kHeader + "GPU0\t X \tNV0\t0-3\n",
       "line 2, column 10: ", "\"NV0\" is no link"},
      {"too many NVLinks", kHeader + "GPU0\t X \tNV99999999999\t0-3\n",
       "line 2, column 10: ", "is no link"},
      {"a lost cell", kHeader + "GPU0\t X \t0-3\n", "line 2, column 10: ", "\"0-3\" is no link"},
      {"a cell too many", kHeader + "GPU0\t X \tNV2\tSYS\t0-3\n",
       "line 2, column 14: ", "one link more than the header has devices"},
      {"cells too many, run together", kHeader + "GPU0\t X \tNV2SYS\t0-3\n",
       "line 2, column 13: ", "one link more"},
      {"X in the wrong place", kHeader + "GPU0\tNV2\t X \t0-3\n",
       "line 2, column 6: ", "expected X where GPU0 meets itself"},
      {"a second X", kHeader + "GPU0\t X \t X \t0-3\n",
       "line 2, column 11: ", "it belongs under GPU0"},
      {"links that differ", kHeader + kFirst + "GPU1\tNV1\t X \t4-7\n",
       "line 3, column 6: ", "GPU1 says NV1 of GPU0, but line 2 says NV2"},
      {"the same GPU twice", kHeader + kFirst + kFirst,
       "line 3, column 1: ", "a second line of GPU0; the first is line 2"},
      {"the same column twice", "\tGPU0\tGPU0\n", "line 1, column 7: ", "the name of two columns"},
      {"a line without column", kHeader + kFirst + "GPU1\tNV2\t X \t4-7\nGPU2\tNV2\tNV2\t4-7\n",
       "line 4, column 1: ", "\"GPU2\" has no column"},
      {"bad processors", kHeader + "GPU0\t X \tNV2\t0-\n",
       "line 2, column 14: ", "\"0-\" is not a list such as 0-15,32-47"},
      {"processors beyond reason", kHeader + "GPU0\t X \tNV2\t0-99999999\n",
       "line 2, column 14: ", "is not a list"},
      {"more processors than Linux has", kHeader + "GPU0\t X \tNV2\t0-8192\n",
       "line 2, column 14: ", "is not a list"},
      {"processors and node run together",
       "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
       "GPU0\t X \tNV18\t0-55,112-167\t0\t\tN/A\n"
       "GPU1\tNV18\t X \t56-111,168-2231\t\tN/A\n",
       "line 3, column 15: ", "two cells have run together"},
      {"processors and node of several run together",
       "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
       "GPU0\t X \tNV18\tNV18\t0-55,112-167\t0\t\tN/A\n"
       "GPU1\tNV18\t X \tNV18\t56-111,168-2231\t\tN/A\n"
       "GPU2\tNV18\tNV18\t X \t56-111,168-2231\t\tN/A\n",
       "line 3, column 20: ", "two cells have run together"},
      {"few processors and node run together",
       "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
       "GPU0\t X \tNV2\t0-7\t0\nGPU1\tNV2\t X \t8-151\n",
       "line 3, column 14: ", "no other line has one above 7"},
      {"processors and node of all run together",
       "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
       "GPU0\t X \tNV18\t0-55,112-1670\t\tN/A\n"
       "GPU1\tNV18\t X \t56-111,168-2231\t\tN/A\n",
       "line 3, column 15: ", "GPU1 and GPU0 are said to have some near CPUs in common"},
      {"few processors and node of all run together",
       "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
       "GPU0\t X \tNV2\t0-70\nGPU1\tNV2\t X \t8-151\n",
       "line 3, column 14: ", "two cells have run together"},
      {"an unknown column", "\tGPU0\tCPU Affinity\tHeat\nGPU0\t X \t0-3\t7\n",
       "line 1, column 20: ", "\"Heat\" is no column that is known"},
      {"two machines", kHeader + kFirst + "GPU1\tNV2\t X \t4-7\n\n" + kHeader,
       "line 5, column 2: ", "a second matrix begins here"},
      {"peers", "\tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n",
       "line 2, column 9: ", "not how they are linked"},
      {"another vendor", "==== ROCm System Management Interface ====\n   GPU0  GPU1\nGPU0  0  15\n",
       "line 1, column 1: ", "rocm-smi"},
      {"a GPU beyond reason", "\tGPU64\nGPU64\t X \n", "line 1, column 2: ", "GPU0 to GPU63"},
      {"no number", "\tGPU99999999999999999999\n", "line 1, column 2: ", "GPU0 to GPU63"},
      {"a long name", "\tGPU0\t" + std::string(65, 'N') + "\n",
       "line 1, column 7: ", "is not the name of a device"},
      {"a name that is not text", "\tGPU0\tNIC\x80\n",
       "line 1, column 7: ", "\"NIC?\" is not the name of a device"},
      {"a number with zeros", "\tGPU0\tGPU01\n", "line 1, column 7: ", "\"GPU01\" is not the name"},
      {"control characters", kHeader + "GPU0\t X \t\x01\x02\t0-3\n",
       "line 2, column 10: ", "\"??\""},
  };
  return all;
}

TEST(Refusals, NamePlaceAndReason) {
  for (const Bad& bad : bad_texts()) {
    const Result<Matrix> matrix = parse_matrix(bad.text);
    ASSERT_FALSE(matrix) << bad.what;
    EXPECT_EQ(matrix.error().code, ErrorCode::invalid_argument) << bad.what;
    EXPECT_THAT(matrix.error().message, StartsWith(bad.place)) << bad.what;
    EXPECT_THAT(matrix.error().message, HasSubstr(bad.says)) << bad.what;
  }
}

std::string times(const std::string& text, std::size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

// These texts would take a minute if any step were quadratic; each takes milliseconds.
TEST(Refusals, AreFastForLargeTexts) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  std::string wide = "GPU0";
  for (int i = 0; i < 1500; ++i) wide += " NIC" + std::to_string(i);
  const std::string matrix = kHeader + kFirst + "GPU1\tNV2\t X \t4-7\n";
  const std::vector<std::pair<std::string, const char*>> texts = {
      {times("x", 2 * kMiB), "more than 1 MiB"},
      {times("x", kMiB), "more than 16 KiB"},
      {times("\n", kMiB), "no line begins with GPU0"},
      {times("\x1b", kMiB), "more than 16 KiB"},
      {times("\x1b[\n", kMiB / 3), "no line begins with GPU0"},
      {times("GPU0\t X \n", kMiB / 9), "names of the columns"},
      {wide, "more than 192 devices"},
      {matrix + "\nfoot\n" + times("GPU0: x\n", kMiB / 8 - 16), ""},
      {matrix + times("GPU0 \n", kMiB / 7), "a second"},
      {kHeader + "GPU0\t X \tNV2\t" + times("1,", 8000), "longer than 1024 bytes"},
      {kHeader + "GPU0\t X \t" + times("SYS", 5000), "one link more"},
  };
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [text, says] : texts) {
    const Result<Matrix> read = parse_matrix(text);
    if (*says == 0) {
      EXPECT_TRUE(read) << read.error().message;
      continue;
    }
    ASSERT_FALSE(read) << says;
    EXPECT_THAT(read.error().message, HasSubstr(says));
    EXPECT_LT(read.error().message.size(), 400u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// A text that is cut before its last link is refused; no links are invented.
TEST(Refusals, EveryTruncationIsDetected) {
  const std::string whole = text_of(dgx1());
  const std::size_t all_links = whole.rfind('X') + 1;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Result<Matrix> matrix = parse_matrix(whole.substr(0, length));
    if (length < all_links) {
      EXPECT_FALSE(matrix) << length;
    } else if (matrix) {
      EXPECT_EQ(matrix->gpus.size(), 8u);
    }
  }
}

}  // namespace
}  // namespace ares::core::topology
