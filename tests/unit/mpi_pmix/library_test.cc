// Tests: pmix/host
#include "mpi/pmix/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mpi/pmix/host.h"

namespace ares::mpi::pmix {
namespace {

using ::testing::HasSubstr;

const pmi::PmixSetup kSetup{.library = "libabsent-pmix.so.2",
                            .map = {.size = 1, .ranks_by_node = {{0}}},
                            .space = "ares_7.0",
                            .hostnames = {"a"},
                            .directory = "/nonexistent"};

std::string refusal(const pmi::PmixSetup& setup) {
  const auto host = PmixHost::open(setup, 1, 1);
  return host ? "opened" : host.error().message;
}

TEST(Library, AnAbsentLibraryIsAnErrorThatSaysWhatToInstall) {
  const auto host = PmixHost::open(kSetup, 1, 1);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, ErrorCode::not_found);
  EXPECT_THAT(host.error().message, HasSubstr("cannot load \"libabsent-pmix.so.2\""));
  EXPECT_THAT(host.error().message, HasSubstr("Debian's package libpmix2"));
}

TEST(Library, AnotherLibraryIsRefused) {
  const auto api = load("libm.so.6");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().code, ErrorCode::failed_precondition);
  EXPECT_THAT(api.error().message, HasSubstr("\"libm.so.6\" has no PMIx_Get_version"));
}

TEST(Library, OnlyVersionsWithKnownStructsAreTaken) {
  EXPECT_TRUE(is_known_version("OpenPMIx 4.2.2 (PMIx Standard: 4.1, Stable ABI: 0.0)"));
  EXPECT_TRUE(is_known_version("OpenPMIx 5.0.1"));
  for (const char* version : {"", "OpenPMIx", "OpenPMIx 3.1.5", "OpenPMIx 40.0", "OpenPMIx 6.0.0"})
    EXPECT_FALSE(is_known_version(version)) << version;
}

TEST(Library, AWrongSetupIsRefusedBeforeTheLibraryIsLoaded) {
  pmi::PmixSetup setup = kSetup;
  setup.map.size = 2;
  EXPECT_THAT(refusal(setup), HasSubstr("1 ranks run on no node"));
  setup = kSetup;
  setup.hostnames = {"a", "b"};
  EXPECT_THAT(refusal(setup), HasSubstr("2 names of hosts"));
  setup.hostnames = {"a,b"};
  EXPECT_THAT(refusal(setup), HasSubstr("name of host \"a,b\""));
  setup = kSetup;
  setup.space = "";
  EXPECT_THAT(refusal(setup), HasSubstr("name of step"));
}

}  // namespace
}  // namespace ares::mpi::pmix
