// Tests: found/found
// Recorded machines: what the code for NVIDIA's library finds on a stand-in made of the recording
// is what the reader of `nvidia-smi topo -m` makes of the recording itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/topology/parsed_topology.h"
#include "gres/found/json.h"
#include "gres/found/offer.h"
#include "unit/gres/stub.h"

namespace ares::gres {
namespace {

namespace fs = std::filesystem;
using core::topology::Matrix;

struct Recording {
  std::string name;
  std::string text;
};

std::vector<Recording> recordings() {
  std::vector<Recording> out;
  for (const auto& entry :
       fs::directory_iterator(std::string(ARES_SOURCE_DIR) + "/tests/data/topologies")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    out.push_back({entry.path().filename().string(), text.str()});
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return out;
}

// NICs are not known to NVML.
Matrix without_nics(const Matrix& matrix) {
  Matrix out;
  out.gpus = matrix.gpus;
  for (std::size_t a = 0; a < out.gpus.size(); ++a)
    for (std::size_t b = 0; b < out.gpus.size(); ++b) out.links.push_back(matrix.link(a, b));
  return out;
}

std::string document_of(const Matrix& matrix) {
  FoundMachine machine = *from_text(core::topology::format_matrix(matrix));
  for (FoundGpu& gpu : machine.gpus) gpu.name = "NVIDIA A100-SXM4-80GB";
  return to_json(machine);
}

// Those whose GPUs are joined by switches, by the products: DGX-2, DGX A100 and HGX with H100.
bool has_switches(const std::string& name) {
  for (const char* word : {"h100x8", "a100x8-nv12", "dgx2"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

void compare(const Recording& recording, const Matrix& matrix, const char* library) {
  SCOPED_TRACE(recording.name);
  const auto expected = core::topology::read_topology(format_matrix(matrix), "a100");
  ASSERT_TRUE(expected);
  const auto found = found_by_nvml(
      document_of(matrix), has_switches(recording.name) ? R"("nvswitch": true)" : "", library);
  ASSERT_TRUE(found) << found.error().message;
  const Offer offered = offer(*found);
  std::vector<Gpu> gpus;
  for (const OfferedGpu& gpu : offered.gpus) gpus.push_back(gpu.gpu);
  EXPECT_EQ(gpus, expected->gpus);
  if (library == std::string(ARES_NVML_OLD)) return;  // it does not know NUMA nodes
  EXPECT_EQ(offered.topology.text(), expected->topology.text());
}

TEST(RecordedMachine, IsTheSameByNvmlAndByItsMatrix) {
  unsigned compared = 0, with_switches = 0;
  for (const Recording& recording : recordings()) {
    const auto matrix = core::topology::parse_matrix(recording.text);
    if (!matrix) continue;  // truncated ones, see topology/recorded_test.cc
    const Matrix gpus = without_nics(*matrix);
    compare(recording, gpus, ARES_NVML);
    compare(recording, gpus, ARES_NVML_OLD);
    ++compared;
    if (has_switches(recording.name)) ++with_switches;
  }
  EXPECT_GE(compared, 32u);
  EXPECT_GE(with_switches, 3u);
}

// The text and JSON forms tell the same, NICs included.
TEST(RecordedMachine, SurvivesJson) {
  for (const Recording& recording : recordings()) {
    const auto found = from_text(recording.text);
    if (!found) continue;
    const auto again = from_json(to_json(*found));
    ASSERT_TRUE(again) << recording.name << ": " << again.error().message;
    EXPECT_EQ(*again, *found) << recording.name;
    const auto expected = core::topology::read_topology(recording.text, "gpu");
    ASSERT_TRUE(expected);
    EXPECT_EQ(offer(*again).topology.text(), expected->topology.text()) << recording.name;
  }
}

}  // namespace
}  // namespace ares::gres
