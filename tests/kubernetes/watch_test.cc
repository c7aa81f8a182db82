// Watches of a real API server through restarts and cut connections.
// Tests: object_watch, reflector, curl_engine
#include "base/random.h"
#include "kubernetes/tcp_proxy.h"
#include "kubernetes/testbed.h"
#include "os/clock.h"

namespace ares::kubernetes {
namespace {

class WatchTest : public TestbedTest {
 protected:
  void watch_through(const TcpProxy& proxy, Seconds idle_timeout = Seconds(150)) {
    client = client_for(through(proxy.port()));
    WatchSettings settings;
    settings.reflector.page_size = 2;
    settings.idle_timeout = idle_timeout;
    watch = std::make_unique<ObjectWatch>(
        *client,
        WatchScope{.list = Call::list_pods,
                   .watch = Call::watch_pods,
                   .space = space,
                   .label_selector = "ares.io/cluster=test"},
        settings, 3, [this](const Change& change) { observe(change); },
        [] { return os::boot_now(); });
  }
  void TearDown() override {
    watch.reset();
    client.reset();
    TestbedTest::TearDown();
  }
  void observe(const Change& change) {
    const std::string name = change.name + "@" + change.uid;
    switch (change.kind) {
      case Change::Kind::added: EXPECT_TRUE(cache.insert(name).second) << name; break;
      case Change::Kind::modified: EXPECT_TRUE(cache.contains(name)) << name; break;
      case Change::Kind::deleted:
        EXPECT_EQ(cache.erase(name), 1u) << name;
        if (!change.object) ++synthesised;
        break;
    }
  }
  bool become_equal() {
    const std::set<std::string> expected = pods();
    return run_until(*client, [&] { return watch->is_synced() && cache == expected; },
                     {watch.get()});
  }

  std::set<std::string> cache;
  int synthesised = 0;
  std::unique_ptr<ApiClient> client;
  std::unique_ptr<ObjectWatch> watch;
};

TEST_F(WatchTest, ListAndWatchFollowTheServer) {
  for (const char* name : {"a", "b", "c", "d", "e"}) create_pod(name);
  TcpProxy proxy(port());
  watch_through(proxy);
  EXPECT_TRUE(become_equal());
  create_pod("f");
  delete_pod("a");
  EXPECT_TRUE(become_equal());
  EXPECT_EQ(synthesised, 0);
  EXPECT_EQ(watch->problem(), "");
}

TEST_F(WatchTest, ChangesThatARestartHidesAreFoundByALaterList) {
  create_pod("a");
  create_pod("b");
  TcpProxy proxy(port());
  watch_through(proxy);
  ASSERT_TRUE(become_equal());
  proxy.refuse(true);
  delete_pod("a");
  delete_pod("b");
  create_pod("b");  // another one under the same name
  create_pod("c");
  restart("kube-apiserver");  // which forgets the events before
  delete_pod("c");
  create_pod("d");
  proxy.refuse(false);
  EXPECT_TRUE(become_equal());
  EXPECT_EQ(synthesised, 2) << "the events of their deletion were lost with the server's cache";
}

TEST_F(WatchTest, CutConnectionsLoseNothing) {
  Random random(11);
  TcpProxy proxy(port());
  watch_through(proxy);
  std::set<std::string> names;
  for (int round = 0; round < 60; ++round) {
    const std::string name = "p" + std::to_string(random.below(6));
    if (names.contains(name)) {
      delete_pod(name);
      names.erase(name);
    } else {
      create_pod(name);
      names.insert(name);
    }
    if (random.percent(30)) proxy.cut();
    const BootTime until =
        os::boot_now() + random.between(Duration(0), Duration(std::chrono::milliseconds(60)));
    (void)run_until(*client, [&] { return os::boot_now() >= until; }, {watch.get()});
  }
  EXPECT_TRUE(become_equal());
  EXPECT_GT(proxy.accepted(), 3);
}

TEST_F(WatchTest, SilentConnectionIsReplaced) {
  create_pod("a");
  TcpProxy proxy(port());
  watch_through(proxy, Seconds(2));
  ASSERT_TRUE(become_equal());
  const int before = proxy.accepted();
  proxy.stall(true);
  create_pod("b");
  // The watch is given up after two seconds; the stalled connections stay open. New ones pass.
  const BootTime until = os::boot_now() + Seconds(4);
  (void)run_until(*client, [&] { return os::boot_now() >= until; }, {watch.get()});
  proxy.stall(false);
  EXPECT_TRUE(become_equal());
  EXPECT_GT(proxy.accepted(), before);
}

}  // namespace
}  // namespace ares::kubernetes
