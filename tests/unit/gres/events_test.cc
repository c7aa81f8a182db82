#include "gres/nvml/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/gres/stub.h"

namespace ares::gres::nvml {
namespace {

// The errors that happen on a machine of two GPUs, until there are `most`.
struct Watched {
  Status status;
  std::vector<GpuError> errors;
};
Watched watch(const std::string& happens, const std::string& stub = "",
              const std::string& library = ARES_NVML) {
  const Folder folder;
  std::string json = machine_json(2, "NV4");
  json.insert(json.rfind('}'), ", \"stub\": {" + stub + "}");
  folder.write("machine.json", json);
  if (!happens.empty()) folder.write("machine.json.error", happens);
  ::setenv("ARES_NVML_STUB", (folder.path() + "/machine.json").c_str(), 1);
  Watched out;
  out.status = watch_errors(
      {library, ""}, [&](const GpuError& error) { out.errors.push_back(error); },
      [&] { return out.errors.empty(); });
  return out;
}

TEST(NvmlEvents, AnErrorNamesItsGpuAndNumber) {
  for (const char* library : {ARES_NVML, ARES_NVML_OLD}) {
    const Watched out = watch("1 79", "", library);
    EXPECT_TRUE(out.status);
    ASSERT_EQ(out.errors.size(), 1u);
    EXPECT_EQ(out.errors[0].bus_id, "0000:11:00.0");
    EXPECT_EQ(out.errors[0].xid, 79u);
    EXPECT_TRUE(concerns_hardware(out.errors[0]));
  }
}

TEST(NvmlEvents, ALostGpuEndsTheWatch) {
  const Watched out = watch("9 0");
  EXPECT_TRUE(out.status);
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].xid, 0u);
  EXPECT_TRUE(concerns_hardware(out.errors[0]));
}

TEST(NvmlEvents, ErrorsOfProgramsAreTold) {
  for (const std::uint64_t xid : {13, 31, 43, 45, 68}) EXPECT_FALSE(concerns_hardware({"", xid}));
  for (const std::uint64_t xid : {48, 63, 64, 74, 79, 94, 95, 119})
    EXPECT_TRUE(concerns_hardware({"", xid}));
}

TEST(NvmlEvents, WhereNothingCanBeWatchedIsAReason) {
  const Watched none = watch("", R"("results": {"nvmlDeviceRegisterEvents": 3})");
  ASSERT_FALSE(none.status);
  EXPECT_EQ(none.status.error().message, "no GPU reports its errors");
  const Watched failing = watch("", R"("results": {"nvmlEventSetCreate": 999})");
  ASSERT_FALSE(failing.status);
  EXPECT_THAT(failing.status.error().message, testing::HasSubstr("cannot watch errors of GPUs"));
  EXPECT_FALSE(watch("", "", "libno-such-nvml.so.1").status);
}

}  // namespace
}  // namespace ares::gres::nvml
