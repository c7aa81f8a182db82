#include "os/device_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "os/cgroup.h"
#include "os/file.h"

namespace ares::os {
namespace {

// Executes a program as the kernel would, as far as device filters need it. nullopt: the verifier would refuse it.
std::optional<std::uint64_t> execute(const std::vector<bpf_insn>& program,
                                     const std::array<std::uint32_t, 3>& context) {
  std::array<std::optional<std::uint64_t>, 11> registers{};
  registers[BPF_REG_1] = 0;  // the context, of which 0 is the first byte
  for (std::size_t at = 0; at < program.size(); ++at) {
    const bpf_insn& i = program[at];
    auto& to = registers[i.dst_reg];
    switch (i.code) {
      case BPF_LDX | BPF_MEM | BPF_W: {
        if (i.src_reg != BPF_REG_1 || i.off % 4 != 0 || i.off < 0 || i.off > 8) return {};
        to = context[static_cast<std::size_t>(i.off / 4)];
        break;
      }
      case BPF_ALU | BPF_AND | BPF_K:
        if (!to) return {};
        to = static_cast<std::uint32_t>(*to) & static_cast<std::uint32_t>(i.imm);
        break;
      case BPF_JMP | BPF_JNE | BPF_K:
        if (!to || i.off < 0) return {};
        if (*to != static_cast<std::uint64_t>(std::int64_t{i.imm}))
          at += static_cast<std::size_t>(i.off);
        break;
      case BPF_ALU64 | BPF_MOV | BPF_K: to = static_cast<std::uint64_t>(std::int64_t{i.imm}); break;
      case BPF_JMP | BPF_EXIT: return registers[BPF_REG_0];
      default: return {};
    }
  }
  return {};  // it runs over its end
}

constexpr std::uint32_t kMakeNode = BPF_DEVCG_ACC_MKNOD, kRead = BPF_DEVCG_ACC_READ,
                        kWrite = BPF_DEVCG_ACC_WRITE;

// Whether the program allows the access.
std::optional<bool> allows(const std::vector<std::string>& denied, std::uint32_t access,
                           std::uint32_t type, std::uint32_t major, std::uint32_t minor) {
  const Result<std::vector<bpf_insn>> program = device_filter(denied);
  if (!program) return {};
  const auto result = execute(*program, {access << 16 | type, major, minor});
  if (!result) return {};
  return *result != 0;
}

TEST(DeviceFilter, DeniesTheListedDevicesOnly) {
  const std::vector<std::string> denied{"c 195:0", "c 195:3", "b 8:1"};
  for (const std::uint32_t access : {kMakeNode, kRead, kWrite, kRead | kWrite, 0u}) {
    for (const std::uint32_t minor : {0u, 3u})
      EXPECT_EQ(allows(denied, access, BPF_DEVCG_DEV_CHAR, 195, minor), false);
    EXPECT_EQ(allows(denied, access, BPF_DEVCG_DEV_BLOCK, 8, 1), false);
    EXPECT_EQ(allows(denied, access, BPF_DEVCG_DEV_CHAR, 195, 1), true);
    EXPECT_EQ(allows(denied, access, BPF_DEVCG_DEV_CHAR, 196, 0), true);
    EXPECT_EQ(allows(denied, access, BPF_DEVCG_DEV_BLOCK, 195, 0), true) << "another type";
    EXPECT_EQ(allows(denied, access, BPF_DEVCG_DEV_CHAR, 8, 1), true);
  }
}

TEST(DeviceFilter, WithoutDevicesAllIsAllowed) {
  EXPECT_EQ(allows({}, kRead, BPF_DEVCG_DEV_CHAR, 195, 0), true);
}

TEST(DeviceFilter, LargestNumbersAreTold) {
  EXPECT_EQ(allows({"c 4095:1048575"}, kRead, BPF_DEVCG_DEV_CHAR, 4095, 1048575), false);
  EXPECT_EQ(allows({"c 4095:1048575"}, kRead, BPF_DEVCG_DEV_CHAR, 4095, 1048574), true);
}

TEST(DeviceFilter, OtherTextsAreRefused) {
  for (const char* text : {"", "c", "c 195", "c 195:", "c 195:-1", "d 1:2", "c 1:2 rwm", "c 1;2",
                           "c 1:99999999999", "c *:*"})
    EXPECT_FALSE(device_filter({text})) << text;
}

class TemporaryName {
 public:
  TemporaryName() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-device-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryName() { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ + "/node"; }

 private:
  std::string directory_;
};

// Only the unified hierarchy, as on a machine without version 1.
Hierarchies unified_only() {
  std::string mounts;
  std::istringstream lines(*read_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);)
    if (line.find(" - cgroup2 ") != std::string::npos) mounts += line + "\n";
  return {mounts, *read_file("/proc/self/cgroup")};
}

TEST(DeviceFilter, IsInForceInAGroupOfTheUnifiedHierarchy) {
  auto group = Cgroup::plan("ares-devices-" + std::to_string(::getpid()),
                            {.denied_devices = {"c 1:7"}}, unified_only());
  if (!group || !group->create() || !group->limits().denies_devices())
    GTEST_SKIP() << "needs root, cgroup version 2 and a kernel with CONFIG_CGROUP_BPF";
  const TemporaryName node;
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(gate[1]);
    if (::read(gate[0], &byte, 1) != 1) ::_exit(98);
    if (::open("/dev/full", O_RDONLY) >= 0 || errno != EPERM) ::_exit(1);
    if (::open("/dev/zero", O_RDONLY) < 0) ::_exit(2);
    if (::mknod(node.path().c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0 || errno != EPERM)
      ::_exit(3);
    if (::mknod(node.path().c_str(), S_IFCHR | 0600, makedev(1, 5)) != 0) ::_exit(4);
    ::_exit(0);
  }
  EXPECT_TRUE(group->attach(child));
  (void)!::write(gate[1], "g", 1);
  ::close(gate[0]);
  ::close(gate[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ares::os
