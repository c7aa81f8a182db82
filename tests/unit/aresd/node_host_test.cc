#include "aresd/node_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace ares::aresd {
namespace {

ares_exec_text text(const char* of) {
  return {of, std::strlen(of)};
}

// A plugin without nodes, which cannot go on from its second dispatch() on.
struct Failing {
  ares_exec_host host{};
  int dispatched = 0;
};

ares_exec_plugin failing_plugin() {
  ares_exec_plugin table{};
  table.abi_version = ARES_EXEC_ABI_VERSION;
  table.size = sizeof table;
  table.name = "failing";
  table.open = [](const ares_exec_host* host, char*, size_t) -> void* {
    host->say(host->context, text("it is open"));
    return new Failing{*host};
  };
  table.close = [](void* self) { delete static_cast<Failing*>(self); };
  table.event_fd = [](void*) -> int32_t { return -1; };
  table.next_deadline_us = [](void*) -> int64_t { return 1; };
  table.dispatch = [](void* self) {
    auto& plugin = *static_cast<Failing*>(self);
    if (++plugin.dispatched >= 2)
      plugin.host.failed(plugin.host.context, text("its licence has ended"));
  };
  return table;
}

TEST(NodeHost, APluginThatCannotGoOnEndsTheHost) {
  const ares_exec_plugin table = failing_plugin();
  auto host = NodeHost::make(table, "");
  ASSERT_TRUE(host);
  const Status ran = (*host)->run();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message, "exec plugin failing: its licence has ended");
}

TEST(NodeHost, APluginLearnsThatTheProcessIsToEndWhileItOpens) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ares_exec_plugin table = failing_plugin();
  // Waits until the descriptor is readable.
  table.open = [](const ares_exec_host* host, char* error, size_t size) -> void* {
    char byte = 0;
    if (host->stop_fd >= 0 && ::read(host->stop_fd, &byte, 1) == 1)
      std::snprintf(error, size, "told to end");
    return nullptr;
  };
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  const auto host = NodeHost::make(table, "", ends[0]);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().message, "exec plugin failing: told to end");
  for (const int end : ends) ::close(end);
}

TEST(NodeHost, IsStopped) {
  ares_exec_plugin table = failing_plugin();
  table.dispatch = [](void*) {};
  auto host = NodeHost::make(table, "");
  ASSERT_TRUE(host);
  (*host)->stop();
  EXPECT_TRUE((*host)->run());
}

}  // namespace
}  // namespace ares::aresd
