// Tests: gate/output_log
#include "exec/kubernetes/gate/output_log.h"

#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

const Time kNow(std::chrono::seconds(1'800'000'000));

std::string read_whole(OutputReader& reader, std::string_view log, std::size_t piece) {
  std::string output;
  for (; !log.empty(); log.remove_prefix(std::min(piece, log.size())))
    reader.take(log.substr(0, piece), output);
  return output;
}

TEST(OutputLog, IsReadInPiecesOfAnySize) {
  const std::string first("one\ntwo\x1e\x1e\nares 7 8\n\0x", 20), second =
                                                                      "\x1e"
                                                                      "ares end 3\n";
  std::string log;
  append_mark(log, 0, kNow);
  append_output(log, first);
  append_mark(log, first.size(), kNow);
  append_output(log, second);
  append_end_mark(log, first.size() + second.size());
  for (std::size_t piece = 1; piece <= log.size(); ++piece) {
    OutputReader reader;
    EXPECT_EQ(read_whole(reader, log, piece), first + second);
    EXPECT_TRUE(reader.has_ended());
    EXPECT_FALSE(reader.gap());
    EXPECT_EQ(reader.mark_time(), kNow);
  }
}

TEST(OutputLog, OneLineLooksAsItWasPrinted) {
  std::string log;
  append_mark(log, 0, kNow);
  append_output(log, "hello\n");
  append_end_mark(log, 6);
  EXPECT_EQ(log,
            "\x1e"
            "ares 0 1800000000\nhello\n\x1e"
            "ares end 6\n");
}

TEST(OutputLog, ARepeatedPartIsSkipped) {
  std::string log;
  append_mark(log, 0, kNow);
  append_output(log, "abcdef");
  append_mark(log, 2, kNow);
  append_output(log, "cdefgh");
  OutputReader reader(1);
  EXPECT_EQ(read_whole(reader, log, 100), "bcdefgh");
  EXPECT_EQ(reader.have(), 8U);
}

TEST(OutputLog, AGapIsToldAndClosedByWhatIsWrittenAgain) {
  std::string log;
  append_mark(log, 10, kNow);
  append_output(log, "later");
  OutputReader reader(4);
  EXPECT_EQ(read_whole(reader, log, 3), "");
  EXPECT_EQ(reader.gap(), 10U);
  EXPECT_EQ(reader.have(), 4U);
  EXPECT_FALSE(reader.mark_time()) << "a log from then on lacks what is missing";
  std::string again;
  append_mark(again, 2, kNow);
  append_output(again, "23456789later+");
  EXPECT_EQ(read_whole(reader, again, 3), "456789later+");
  EXPECT_FALSE(reader.gap());
}

TEST(OutputLog, WhatIsLostIsSkippedOnRequest) {
  std::string log;
  append_mark(log, 10, kNow);
  append_output(log, "later");
  append_end_mark(log, 15);
  OutputReader reader(4);
  (void)read_whole(reader, log, 100);
  EXPECT_FALSE(reader.has_ended());
  reader.skip_gap();
  reader.reconnect();
  EXPECT_EQ(read_whole(reader, log, 100), "later");
  EXPECT_TRUE(reader.has_ended());
}

TEST(OutputLog, BeforeTheFirstMarkNothingIsKnown) {
  OutputReader reader;
  EXPECT_EQ(read_whole(reader,
                       "the end of a line\n\x1e"
                       "areas\n",
                       4),
            "");
  std::string log = "the end of a line\n";
  append_mark(log, 0, kNow);
  append_output(log, "x");
  reader.reconnect();
  EXPECT_EQ(read_whole(reader, log, 4), "x");
}

TEST(OutputLog, MarksThatCannotBeReadSayNothing) {
  for (const char* mark : {"ares x 1\n", "ares 5\n", "ares 99999999999999999999 1\n", "ares 1 \n",
                           "ares end\n", "ares end 1 2\n", "ares 9000000000000000000 1\n",
                           "ares end 9000000000000000000\n", "ares 5 1 2\n", "ares -1 1\n"}) {
    OutputReader reader;
    EXPECT_EQ(read_whole(reader, "\x1e" + std::string(mark) + "text", 3), "") << mark;
    EXPECT_FALSE(reader.has_ended() || reader.gap()) << mark;
  }
  OutputReader reader;  // a mark without an end does not hold back what follows for ever
  std::string log = "\x1e" + std::string(1000, 'a') + "\n";
  append_mark(log, 0, kNow);
  append_output(log, "x");
  EXPECT_EQ(read_whole(reader, log, 7), "x");
}

TEST(OutputLog, SizeCountsWhatTheRuntimeAdds) {
  EXPECT_EQ(log_size("abc"), 3U);
  EXPECT_EQ(log_size("a\nb\n"), 4U + 80U);
}

TEST(OutputLog, StateIsReadAsWritten) {
  const auto state = decode_output_state(encode(OutputState{5'000'000'000, 3}));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->stored, 5'000'000'000U);
  EXPECT_EQ(state->resend, 3U);
  EXPECT_FALSE(decode_output_state("stored x"));
  EXPECT_FALSE(decode_output_state("stored 1\n"));
}

}  // namespace
}  // namespace ares::kubernetes
