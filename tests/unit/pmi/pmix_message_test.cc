#include "pmi/pmix_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ares::pmi {
namespace {

using ::testing::HasSubstr;

std::string body_of(const std::string& frame) {
  PmixFrames frames(kMostPmixEvent);
  frames.add(frame);
  return frames.next().value().value();
}

const std::vector<PmixEvent> kEvents = {
    PmixReady{{{{"PMIX_RANK", "0"}, {"A", ""}}, {}}},
    PmixFailed{"no libpmix"},
    PmixFence{7, "all 0", {0, 1}, std::string("a\0\xff", 3)},
    PmixModexRequest{1ull << 40, 3},
    PmixModexData{5, "blob"},
    PmixModexData{5, std::nullopt},
    PmixAbort{2, -7, "stop"},
};

const std::vector<PmixCommand> kCommands = {
    PmixSetup{.library = "libpmix.so.2",
              .map = {.size = 3, .ranks_by_node = {{0, 1}, {2}}, .this_node = 1},
              .space = "ares_7.0",
              .hostnames = {"a", "b"},
              .directory = "/run/x"},
    PmixFenceResult{7, "data"},
    PmixFenceResult{7, std::nullopt},
    PmixModexResult{8, ""},
    PmixModexAsk{9, 1},
    PmixRankEnded{4},
};

TEST(PmixMessage, WhatIsSentIsReadAsTheSame) {
  for (const PmixEvent& event : kEvents) EXPECT_EQ(read_event(body_of(frame(event))), event);
  for (const PmixCommand& command : kCommands)
    EXPECT_EQ(read_command(body_of(frame(command))), command);
}

TEST(PmixMessage, ATruncatedOrLongerMessageIsRefused) {
  for (const PmixEvent& event : kEvents) {
    const std::string body = body_of(frame(event));
    for (std::size_t size = 0; size < body.size(); ++size)
      EXPECT_FALSE(read_event(body.substr(0, size))) << event.index() << " " << size;
    EXPECT_FALSE(read_event(body + '\0'));
  }
  EXPECT_THAT(read_event("\x63").error().message, HasSubstr("unknown message about PMIx"));
}

TEST(PmixMessage, FramesArriveInAnyPieces) {
  std::string all;
  for (const PmixEvent& event : kEvents) all += frame(event);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, all.size()}) {
    PmixFrames frames(kMostPmixEvent);
    std::vector<PmixEvent> read;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      frames.add(std::string_view(all).substr(at, piece));
      while (const auto body = frames.next().value()) read.push_back(read_event(*body).value());
    }
    EXPECT_EQ(read, kEvents);
  }
}

TEST(PmixMessage, AFrameThatIsTooLongIsRefusedBeforeItArrives) {
  PmixFrames frames(kMostPmixEvent);
  frames.add("\xff\xff\xff\xff");
  EXPECT_THAT(frames.next().error().message, HasSubstr("4294967295 bytes, of at most 67108864"));
}

}  // namespace
}  // namespace ares::pmi
