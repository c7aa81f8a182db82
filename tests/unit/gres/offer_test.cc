#include "gres/found/offer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gres/found/json.h"
#include "unit/gres/stub.h"

namespace ares::gres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FoundMachine machine(unsigned gpus, const std::string& link = "NV4") {
  return *from_json(machine_json(gpus, link));
}

std::vector<Gpu> list(const std::string& type, std::uint16_t count) {
  std::vector<Gpu> gpus;
  for (std::uint16_t i = 0; i < count; ++i) gpus.push_back({GpuIndex(i), type, {}});
  return gpus;
}

TEST(Offer, IsAllThatWasFound) {
  const Offer out = offer(machine(2));
  ASSERT_EQ(out.gpus.size(), 2u);
  EXPECT_EQ(out.gpus[1].gpu, (Gpu{GpuIndex(1), "a100", {4, 5, 6, 7}, Bytes::gib(80)}));
  EXPECT_EQ(out.gpus[1].minor, 0u);
  EXPECT_EQ(out.gpus[1].name, "GPU-1");
  EXPECT_FALSE(out.only_names);
  EXPECT_EQ(out.topology.text(),
            "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
            "GPU0\tX\tNV4\t0-3\t0\n"
            "GPU1\tNV4\tX\t4-7\t0\n");
  EXPECT_THAT(out.left_out, IsEmpty());
}

TEST(Offer, UnknownLinksFollowFromNumaNodes) {
  FoundMachine found = machine(3);
  found.forget_links();
  EXPECT_THAT(offer(found).topology.text(), HasSubstr("GPU0\tX\tNODE\tSYS"));
  found.links.clear();
  EXPECT_THAT(offer(found).topology.text(), HasSubstr("GPU0\tX\tNODE\tSYS"));
}

TEST(Offer, GpusInMigModeWithoutInstancesAreLeftOut) {
  FoundMachine found = machine(2);
  found.gpus[0].partitioned = true;
  const Offer out = offer(found);
  ASSERT_EQ(out.gpus.size(), 1u);
  EXPECT_EQ(out.gpus[0].gpu.index, GpuIndex(1));
  EXPECT_THAT(out.left_out, ElementsAre(HasSubstr("in MIG mode without instances")));
}

TEST(OfferOfListedGpus, HasTheirTypesAndWhatWasFoundOfThem) {
  const Offer out = offer(machine(2), list("a100", 2));
  ASSERT_EQ(out.gpus.size(), 2u);
  EXPECT_EQ(out.gpus[1].gpu, (Gpu{GpuIndex(1), "a100", {4, 5, 6, 7}, Bytes::gib(80)}));
  EXPECT_THAT(out.left_out, IsEmpty());
  const Offer renamed = offer(machine(1), list("big", 1));
  EXPECT_EQ(renamed.gpus[0].gpu.type, "big");
  EXPECT_THAT(renamed.left_out,
              ElementsAre(HasSubstr("another type than ares.yaml says: 0 (a100)")));
}

TEST(OfferOfListedGpus, DifferencesAreReported) {
  const Offer fewer = offer(machine(2), list("a100", 4));
  EXPECT_EQ(fewer.gpus.size(), 2u);
  EXPECT_THAT(fewer.left_out, ElementsAre("ares.yaml lists GPUs that were not found: 2 3"));
  const Offer more = offer(machine(4), list("a100", 2));
  EXPECT_EQ(more.gpus.size(), 2u);
  EXPECT_THAT(more.left_out,
              ElementsAre(HasSubstr("4 GPUs were found, of which ares.yaml lists 2")));
  EXPECT_THAT(more.topology.text(), testing::Not(HasSubstr("GPU2")));
  const Offer none = offer(FoundMachine{}, list("a100", 1));
  EXPECT_TRUE(none.gpus.empty() && none.topology.empty());
  EXPECT_THAT(none.left_out, ElementsAre("ares.yaml lists GPUs that were not found: 0"));
}

}  // namespace
}  // namespace ares::gres
