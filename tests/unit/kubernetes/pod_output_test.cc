// Tests: agent/output/pod_output, gate/output
#include "exec/kubernetes/agent/output/pod_output.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "gate/output.h"

namespace ares::kubernetes {
namespace {

using namespace std::chrono_literals;

const BootTime kStart{1000s};

// The log of a container as the kubelet keeps it: files, of which the API gives the newest, by size at the end of a line.
struct PodLog {
  std::string file{};
  std::size_t most;  // of a file

  // At the end of a line, as the kubelet does.
  void add(std::string_view bytes) {
    file += bytes;
    if (file.size() < most) return;
    const std::size_t line = file.rfind('\n');
    if (line == std::string::npos) return;
    file.erase(0, line + 1);
  }
};

// All of it, from the script to the controller, with faults by a seed.
class Path {
 public:
  Path(std::uint64_t seed, std::size_t bytes) : random_(seed) {
    for (std::size_t i = 0; i < bytes; ++i) printed.push_back(letter());
  }

  void run() {
    for (std::uint64_t step = 0; !agent_.is_complete(); ++step) {
      ASSERT_LT(step, 200'000U) << "it does not end";
      now_ += 50ms;
      print();
      write();
      if (random_.below(400) == 0) restart_agent();
      read();
      if (is_gate_gone_ && random_.below(3) == 0) end_pod();
      store();
      tell();
    }
  }

  std::string printed, stored{};
  std::uint64_t lost() const { return agent_.lost(); }

 private:
  char letter() {
    const auto kind = random_.below(20);
    return kind == 0 ? '\n' : kind == 1 ? '\x1e' : static_cast<char>('a' + random_.below(26));
  }
  Time wall() const { return Time(now_.time_since_epoch()); }

  void print() {
    if (!gate_.takes_more()) return;
    const std::size_t count = std::min<std::size_t>(random_.below(200'000), printed.size() - at_);
    gate_.add(std::string_view(printed).substr(at_, count), wall());
    at_ += count;
    if (at_ == printed.size()) gate_.end();
  }
  void write() {
    const auto count = std::min<std::size_t>(gate_.unwritten().size(), random_.below(300'000));
    log_.add(gate_.unwritten().substr(0, count));
    gate_.wrote(count);
    is_gate_gone_ = gate_.is_done();
  }
  // The new one has nothing but the annotation and what the controller tells it.
  void restart_agent() {
    agent_ = PodOutput(annotation_);
    if (has_pod_ended_) agent_.pod_ended(true);
  }
  // One connection gives the newest file, or a part of it and then fails, or without saying that; or something that is no log.
  void read() {
    if (!agent_.wants_log() || random_.below(3) != 0) return;
    const bool fails = random_.below(10) == 0;
    agent_.connected();
    if (random_.below(10) == 0) {
      agent_.received("unable to retrieve container logs for containerd://0a1b2c", now_);
      return agent_.disconnected(now_);
    }
    agent_.received(std::string_view(log_.file).substr(
                        0, fails ? random_.below(log_.file.size() + 1) : std::string::npos),
                    now_);
    if (!fails || random_.below(3) == 0) agent_.disconnected(now_);
  }
  void end_pod() {
    has_pod_ended_ = true;
    agent_.pod_ended(true);
  }
  void store() {
    const auto part = agent_.next_part(now_);
    if (!part || random_.below(10) == 0) return;  // lost on its way
    ASSERT_LE(part->offset, stored.size()) << "bytes are missing";
    if (part->offset + part->data.size() > stored.size())
      stored += part->data.substr(stored.size() - part->offset);
    has_end_ = has_end_ || part->ended;
    if (random_.below(10) != 0) agent_.stored(stored.size(), has_end_, now_);
  }
  void tell() {
    if (const auto state = agent_.next_state(now_)) annotation_ = *state;
    if (random_.below(5) == 0) gate_.set_state(annotation_, wall());
  }

  Random random_;
  BootTime now_ = kStart;
  gate::Output gate_{};
  PodLog log_{.most = std::size_t{10} << 20};
  PodOutput agent_{OutputState{}};
  OutputState annotation_{};
  std::size_t at_ = 0;
  bool is_gate_gone_ = false, has_pod_ended_ = false, has_end_ = false;
};

TEST(PodOutputProperty, NothingIsLostAndNothingComesTwice) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    Random size(seed);
    Path path(seed, size.below(seed % 4 == 0 ? 20'000'000 : 200'000));
    path.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
    EXPECT_EQ(path.lost(), 0U) << "seed " << seed;
    EXPECT_TRUE(path.stored == path.printed) << "seed " << seed;
  }
}

// --- single rules ---------------------------------------------------------------------------------

std::string log_of(std::string_view output, bool ended) {
  std::string log;
  append_mark(log, 0, Time{});
  append_output(log, output);
  if (ended) append_end_mark(log, output.size());
  return log;
}

PodOutput asked() {
  PodOutput output{OutputState{}};
  EXPECT_FALSE(output.wants_log()) << "what is stored is asked for first";
  const auto question = output.next_part(kStart);
  EXPECT_TRUE(question && question->data.empty() && !question->ended);
  output.stored(0, false, kStart);
  output.connected();
  return output;
}

TEST(PodOutput, SmallPartsAreGathered) {
  PodOutput output = asked();
  output.received(log_of("a", false), kStart);
  EXPECT_FALSE(output.next_part(kStart));
  ASSERT_TRUE(output.next_deadline());
  const auto part = output.next_part(*output.next_deadline());
  ASSERT_TRUE(part);
  EXPECT_EQ(part->data, "a");
  EXPECT_FALSE(part->ended);
}

TEST(PodOutput, APartThatIsNotAnsweredIsToldAgain) {
  PodOutput output = asked();
  output.received(log_of("a", true), kStart);
  ASSERT_TRUE(output.next_part(kStart));
  EXPECT_FALSE(output.next_part(kStart + 9s));
  const auto again = output.next_part(kStart + 10s);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->data, "a");
  EXPECT_TRUE(again->ended);
  output.stored(1, true, kStart + 10s);
  EXPECT_TRUE(output.is_complete());
  EXPECT_FALSE(output.next_part(kStart + 60s));
}

TEST(PodOutput, OfAGateThatWasKilledTheWholeLogCounts) {
  PodOutput output = asked();
  output.received(log_of("cut of", false), kStart);
  output.pod_ended(false);
  output.disconnected(kStart);  // this connection may have missed the end
  EXPECT_TRUE(output.wants_log());
  output.connected();
  output.received(log_of("cut off", false), kStart);
  output.disconnected(kStart);
  const auto part = output.next_part(kStart);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->data, "cut off");
  EXPECT_TRUE(part->ended);
}

TEST(PodOutput, ATextInPlaceOfTheLogIsNotItsEnd) {
  for (const bool by_itself : {false, true}) {
    PodOutput output = asked();
    output.pod_ended(by_itself);
    output.connected();
    output.received("unable to retrieve container logs for containerd://0a1b2c", kStart);
    output.disconnected(kStart);
    EXPECT_TRUE(output.wants_log());
    output.connected();
    output.received(log_of("all", by_itself), kStart + 1s);
    output.disconnected(kStart + 1s);
    const auto part = output.next_part(kStart + 1s);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->data, "all");
    EXPECT_TRUE(part->ended);
    EXPECT_FALSE(output.is_end_missing());
  }
}

TEST(PodOutput, AMissingEndIsWaitedForAndThenSaid) {
  PodOutput output = asked();
  output.pod_ended(true);
  for (const auto since : {0s, 59s}) {
    output.connected();
    output.received(log_of("cut", false), kStart);
    output.disconnected(kStart + since);
    EXPECT_TRUE(output.wants_log());
  }
  output.connected();
  output.received(log_of("cut", false), kStart + 60s);
  output.disconnected(kStart + 60s);
  const auto part = output.next_part(kStart + 60s);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->data, "cut");
  EXPECT_TRUE(part->ended && output.is_end_missing());
}

TEST(PodOutput, ALogThatCannotBeReadIsGivenUpAfterAWhile) {
  PodOutput output = asked();
  output.read_failed(kStart);
  output.read_failed(kStart + 100s);
  EXPECT_TRUE(output.wants_log()) << "the pod runs";
  output.pod_ended(false);
  output.read_failed(kStart + 100s);
  output.read_failed(kStart + 159s);
  EXPECT_TRUE(output.wants_log());
  output.read_failed(kStart + 160s);
  const auto part = output.next_part(kStart + 160s);
  EXPECT_TRUE(part && part->ended);
}

TEST(PodOutput, WhatTheLogHasLostIsCountedAndTheRestIsStored) {
  PodOutput output = asked();
  output.pod_ended(false);
  std::string log;
  append_mark(log, 100, Time{});
  append_output(log, "rest");
  append_end_mark(log, 104);
  for (int i = 0; i < 2; ++i) {
    output.connected();
    output.received(log, kStart);
    output.disconnected(kStart);
  }
  EXPECT_EQ(output.lost(), 100U);
  const auto part = output.next_part(kStart);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->offset, 100U);
  EXPECT_EQ(part->data, "rest");
  EXPECT_TRUE(part->ended);
}

TEST(PodOutput, NoMoreIsReadThanTheControllerTakes) {
  PodOutput output = asked();
  output.received(log_of(std::string(3 << 20, 'x'), false), kStart);
  EXPECT_FALSE(output.wants_log());
  for (std::uint64_t stored = 0; !output.wants_log();) {
    const auto part = output.next_part(kStart);
    ASSERT_TRUE(part);
    output.stored(stored += part->data.size(), false, kStart);
  }
}

TEST(PodOutput, TheGateIsToldWhatItMayForget) {
  PodOutput output = asked();
  output.received(log_of(std::string(300'000, '\n'), false), kStart);
  EXPECT_FALSE(output.next_state(kStart));
  ASSERT_TRUE(output.next_part(kStart));
  output.stored(262'144, false, kStart);
  const auto state = output.next_state(kStart);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->stored, 262'144U);
  EXPECT_FALSE(output.next_state(kStart + 60s));
}

TEST(GateOutput, TheScriptWaitsWhenTheLogIsFarAhead) {
  gate::Output output;
  const std::string line = "x\n";
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += line;
  std::size_t added = 0;
  for (; output.takes_more(); ++added) {
    output.add(text, Time{});
    output.wrote(output.unwritten().size());
  }
  EXPECT_EQ(added, 2U) << "short lines take much more in the log than they have bytes";
  output.set_state({text.size(), 0}, Time{});
  EXPECT_TRUE(output.takes_more());
  EXPECT_TRUE(output.unwritten().empty());
  output.end();
  output.wrote(output.unwritten().size());
  EXPECT_FALSE(output.is_done()) << "the log may have been rotated";
  output.set_state({2 * text.size(), 0}, Time{});
  EXPECT_TRUE(output.is_done());
}

TEST(GateOutput, IsWrittenAgainOnce) {
  gate::Output output;
  output.add("abc", Time{});
  output.wrote(output.unwritten().size());
  output.set_state({1, 1}, Time{});
  EXPECT_EQ(output.unwritten(),
            "\x1e"
            "ares 1 0\nbc");
  output.wrote(output.unwritten().size());
  output.set_state({1, 1}, Time{});
  EXPECT_TRUE(output.unwritten().empty());
}

}  // namespace
}  // namespace ares::kubernetes
