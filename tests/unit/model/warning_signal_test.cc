#include "model/job/warning_signal.h"

#include <csignal>

#include <gtest/gtest.h>

namespace ares {
namespace {

TEST(WarningSignal, ReadsWhatSlurmReads) {
  EXPECT_EQ(*parse_warning_signal("USR1"), (WarningSignal{SIGUSR1, Seconds(60), false}));
  EXPECT_EQ(*parse_warning_signal("10@300"), (WarningSignal{10, Seconds(300), false}));
  EXPECT_EQ(*parse_warning_signal("B:TERM@120"), (WarningSignal{SIGTERM, Seconds(120), true}));
  EXPECT_EQ(*parse_warning_signal("b:sigint@0"), (WarningSignal{SIGINT, Seconds(0), true}));
  EXPECT_EQ(parse_warning_signal("USR1@65535")->before, Seconds(65535));
}

TEST(WarningSignal, SaysWhatIsWrong) {
  for (const char* wrong : {"", "@60", "USR1@", "USR1@-1", "USR1@65536", "USR1@1x", "X:USR1", "B:"})
    EXPECT_FALSE(parse_warning_signal(wrong)) << wrong;
  EXPECT_NE(parse_warning_signal("R:USR1").error().message.find("reservation"), std::string::npos);
}

TEST(WarningSignal, WhatIsPrintedIsReadAsTheSame) {
  for (const WarningSignal& warning :
       {WarningSignal{SIGUSR1, Seconds(60), false}, WarningSignal{SIGTERM, Seconds(0), true},
        WarningSignal{40, Seconds(65535), true}})
    EXPECT_EQ(*parse_warning_signal(format_warning_signal(warning)), warning);
}

}  // namespace
}  // namespace ares
