// Tests: found/json, gres/found/json_reader, json_writer
#include "gres/found/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::gres {
namespace {

using testing::HasSubstr;

FoundMachine example() {
  FoundMachine machine;
  machine.source = "nvml";
  machine.driver = "550.54.15";
  FoundGpu first{.index = 0, .uuid = "GPU-a", .type = "a100", .name = "NVIDIA A100-SXM4-40GB"};
  first.memory = Bytes::gib(40);
  first.bus_id = "0000:07:00.0";
  first.minor = 3;
  first.devices = {"/dev/nvidia3"};
  first.cpus.insert(0, 23);
  first.numa.insert(0);
  first.notes = {"pages of its memory are retired when the driver is next loaded"};
  first.use = {Bytes::mib(300), {4711, 815}};
  FoundGpu second = first;
  second.index = 2;
  second.problem = "GPU is lost (15)";
  second.partitioned = true;
  second.instances = {{"MIG-1", "3g.20gb", Bytes::gib(20), 1, 0, {"/dev/nvidia-caps/nvidia-cap1"}}};
  second.instances[0].use = {Bytes::mib(30), {}};
  machine.gpus = {first, second};
  machine.nics = {"mlx5_0"};
  machine.forget_links();
  machine.set_link(0, 1, core::topology::Link{12, core::topology::Path::sys});
  machine.set_link(0, 2, core::topology::Link{0, core::topology::Path::pix});
  machine.notes = {"nvml: cannot load the library"};
  return machine;
}

std::string refusal(const std::string& text) {
  const auto found = from_json(text);
  return found ? "accepted" : found.error().message;
}

TEST(FoundJson, WhatWasPrintedIsReadAsTheSame) {
  const auto again = from_json(to_json(example()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, example());
}

TEST(FoundJson, TextsOfADriverAreMadeFitToShow) {
  FoundMachine machine = example();
  machine.gpus[0].name = "A100\x1b[2J\xff";
  machine.gpus[0].problem = std::string(5000, 'x');
  machine.notes.assign(5000, "note");
  const auto again = from_json(to_json(machine));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->gpus[0].name, "A100?[2J?");
  EXPECT_EQ(again->gpus[0].problem.size(), kLongestFoundText);
  EXPECT_EQ(again->notes.size(), kMostFound);
}

TEST(FoundJson, MostMayBeLeftOut) {
  const auto found = from_json(R"({"format": 1, "gpus": [{"index": 0, "name": "Tesla T4"}]})");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->gpus[0].type, "t4");
  EXPECT_EQ(found->link(0, 0), std::nullopt);
}

TEST(FoundJson, ErrorsNameThePlace) {
  const auto gpu = [](const std::string& members) {
    return R"({"format": 1, "gpus": [{"index": 0}, {"index": 1, )" + members + "}]}";
  };
  EXPECT_THAT(refusal("{"), HasSubstr("not a JSON document"));
  EXPECT_THAT(refusal("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("format: is missing"));
  EXPECT_THAT(refusal(R"({"format": 2})"), HasSubstr("reads format 1"));
  EXPECT_THAT(refusal(R"({"format": 1, "gpu": []})"), HasSubstr("unknown key \"gpu\""));
  EXPECT_THAT(refusal(gpu(R"("minr": 1)")), HasSubstr("gpus[1]: unknown key \"minr\""));
  EXPECT_THAT(refusal(gpu(R"("minor": -1)")), HasSubstr("gpus[1].minor: expected a whole number"));
  EXPECT_THAT(refusal(gpu(R"("minor": 4294967296)")), HasSubstr("at most 4294967295"));
  EXPECT_THAT(refusal(gpu(R"("cpus": "0-")")), HasSubstr("gpus[1].cpus: "));
  EXPECT_THAT(refusal(gpu(R"("cpus": "0-70000")")), HasSubstr("gpus[1].cpus: "));
  EXPECT_THAT(refusal(gpu(R"("bus_id": "7")")), HasSubstr("is not an address"));
  EXPECT_THAT(refusal(gpu(R"("type": "a,b")")), HasSubstr("is not one word"));
  EXPECT_THAT(refusal(gpu(R"("name": 7)")), HasSubstr("gpus[1].name: expected a text"));
  EXPECT_THAT(refusal(gpu(R"("name": "\u001b[2J")")), HasSubstr("control characters"));
  EXPECT_THAT(refusal(gpu(R"("instances": [{"uuid": "MIG-1"}])")),
              HasSubstr("gpus[1].instances[0].profile: is missing"));
  EXPECT_THAT(refusal(R"({"format": 1, "gpus": [{"index": 1}, {"index": 1}]})"),
              HasSubstr("list them ascending"));
}

TEST(FoundJson, LinksAreOneSymmetricSquare) {
  const auto links = [](const std::string& rows) {
    return R"({"format": 1, "gpus": [{"index": 0}, {"index": 1}], "links": )" + rows + "}";
  };
  EXPECT_EQ(refusal(links(R"([["X", "?"], ["?", "X"]])")), "accepted");
  EXPECT_THAT(refusal(links(R"([["X", "NV1"]])")), HasSubstr("expected 2 rows of 2 links"));
  EXPECT_THAT(refusal(links(R"([["X", "NV1"], ["NV2", "X"]])")), HasSubstr("contradict"));
  EXPECT_THAT(refusal(links(R"([["X", "X"], ["X", "X"]])")), HasSubstr("diagonal"));
  EXPECT_THAT(refusal(links(R"([["X", "PIXPIX"], ["PIX", "X"]])")), HasSubstr("is not a link"));
}

TEST(FoundJson, HostileDocumentsAreRefused) {
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(std::string(kLongestFound + 1, ' ')), HasSubstr("are read"));
  std::string many = R"({"format": 1, "gpus": [)";
  for (int i = 0; i < 2000; ++i) many += std::string(i > 0 ? "," : "") + "{}";
  EXPECT_THAT(refusal(many + "]}"), HasSubstr("more than 1024 items"));
}

TEST(FoundText, IsAMatrixOrJson) {
  const auto bad = from_text("\tGPU0\tGPU1\nGPU0\t X \tPIX\nGPU1\tSYS\t X \n");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("line 3, column "));
  const auto good =
      from_text("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPIX\t0-3\nGPU1\tPIX\t X \t4-7\n");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(format_interval_set(good->gpus[1].cpus), "4-7");
  EXPECT_EQ(good->gpus[1].type, "gpu");
  EXPECT_TRUE(from_text("\n {\"format\": 1}"));
}

TEST(TypeWord, IsTheModel) {
  for (const auto& [name, word] : std::vector<std::pair<std::string, std::string>>{
           {"NVIDIA A100-SXM4-80GB", "a100"},
           {"NVIDIA H100 80GB HBM3", "h100"},
           {"NVIDIA H100 NVL", "h100"},
           {"Tesla V100-SXM2-32GB", "v100"},
           {"Tesla P100-PCIE-16GB", "p100"},
           {"Tesla T4", "t4"},
           {"NVIDIA GeForce RTX 4080 SUPER", "rtx4080super"},
           {"GeForce GTX 1070 Ti", "gtx1070ti"},
           {"Quadro P400", "p400"},
           {"NVIDIA A100-SXM4-40GB MIG 3g.20gb", "a100"},
           {"AMD Instinct MI250X / MI250", "mi250x"},
           {"NVIDIA GB200", "gb200"},
           {"", "gpu"},
           {"\xff", "gpu"}})
    EXPECT_EQ(type_word(name), word) << name;
}

TEST(PciAddress, HasOneForm) {
  EXPECT_EQ(pci_address("00000000:00:1E.0"), "0000:00:1e.0");
  EXPECT_EQ(pci_address("0001:00:00.0"), "0001:00:00.0");
  EXPECT_EQ(pci_address("00010000:00:00.0"), "00010000:00:00.0");
  EXPECT_EQ(pci_address("07:00.0"), "0000:07:00.0");
  EXPECT_EQ(pci_address("0000:07:00"), std::nullopt);
  EXPECT_EQ(pci_address("0000-07:00.0"), std::nullopt);
  EXPECT_EQ(pci_address(""), std::nullopt);
}

}  // namespace
}  // namespace ares::gres
