#include "base/signal_name.h"

#include <csignal>

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(SignalName, NamesNumbersAndCase) {
  EXPECT_EQ(*parse_signal("USR1"), SIGUSR1);
  EXPECT_EQ(*parse_signal("sigusr1"), SIGUSR1);
  EXPECT_EQ(*parse_signal("10"), 10);
  EXPECT_EQ(*parse_signal("64"), 64);
  for (const char* wrong : {"", "0", "65", "-1", "USR3", "SIG", "1x", "USR1 "})
    EXPECT_FALSE(parse_signal(wrong)) << wrong;
}

TEST(SignalName, WhatIsPrintedIsReadAsTheSame) {
  for (int signal = 1; signal <= 64; ++signal)
    EXPECT_EQ(*parse_signal(signal_name(signal)), signal);
  EXPECT_EQ(signal_name(SIGTERM), "TERM");
}

}  // namespace
}  // namespace ares
