#include "os/device_filter.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <sstream>

#include "os/fd.h"

namespace ares::os {
namespace {

// The context of the program, struct bpf_cgroup_dev_ctx. Of the access type, the upper half says what is to be done,
// which does not matter here.
constexpr std::int16_t kAccessType = 0, kMajor = 4, kMinor = 8;
constexpr std::int32_t kDeviceType = 0xffff;  // mask
constexpr std::int32_t kAllow = 1, kDeny = 0;

struct Device {
  std::int32_t type, major, minor;
};

bpf_insn instruction(int code, int destination, int source, std::int16_t offset,
                     std::int32_t value) {
  bpf_insn result{};
  result.code = static_cast<std::uint8_t>(code);
  result.dst_reg = static_cast<std::uint8_t>(destination & 0xf);
  result.src_reg = static_cast<std::uint8_t>(source & 0xf);
  result.off = offset;
  result.imm = value;
  return result;
}

bpf_insn load_from_context(int destination, std::int16_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, destination, BPF_REG_1, offset, 0);
}
bpf_insn skip_unless_equal(int reg, std::int32_t value, std::int16_t skipped) {
  return instruction(BPF_JMP | BPF_JNE | BPF_K, reg, 0, skipped, value);
}
bpf_insn set_result(std::int32_t value) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
}
bpf_insn leave() {
  return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

Result<Device> parse(const std::string& text) {
  std::istringstream in(text);
  char type = 0, colon = 0;
  std::int64_t major = -1, minor = -1;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const bool read = (in >> type >> major >> colon >> minor) && (in >> std::ws).eof();
  if (!read || colon != ':' || (type != 'c' && type != 'b') || major < 0 || minor < 0 ||
      major > kMost || minor > kMost)
    return fail(ErrorCode::invalid_argument, "\"" + text + "\" is not a device such as c 195:0");
  return Device{type == 'c' ? BPF_DEVCG_DEV_CHAR : BPF_DEVCG_DEV_BLOCK,
                static_cast<std::int32_t>(major), static_cast<std::int32_t>(minor)};
}

int call_bpf(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

std::uint64_t address(const void* of) {
  return reinterpret_cast<std::uintptr_t>(of);
}

}  // namespace

Result<std::vector<bpf_insn>> device_filter(const std::vector<std::string>& denied) {
  std::vector<bpf_insn> program{
      load_from_context(BPF_REG_2, kAccessType),
      instruction(BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0, kDeviceType),
      load_from_context(BPF_REG_3, kMajor), load_from_context(BPF_REG_4, kMinor)};
  for (const std::string& text : denied) {
    const Result<Device> device = parse(text);
    if (!device) return fail(device.error());
    // The skips lead to the next device.
    program.insert(program.end(),
                   {skip_unless_equal(BPF_REG_2, device->type, 4),
                    skip_unless_equal(BPF_REG_3, device->major, 3),
                    skip_unless_equal(BPF_REG_4, device->minor, 2), set_result(kDeny), leave()});
  }
  program.insert(program.end(), {set_result(kAllow), leave()});
  return program;
}

Status attach_device_filter(const std::string& group, const std::vector<std::string>& denied) {
  const Result<std::vector<bpf_insn>> program = device_filter(denied);
  if (!program) return fail(program.error());
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.insns = address(program->data());
  load.insn_cnt = static_cast<std::uint32_t>(program->size());
  load.license = address("Apache-2.0");
  const Fd loaded(call_bpf(BPF_PROG_LOAD, load));
  if (!loaded) return fail(errno_error("cannot load a filter of devices"));
  const Fd directory(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(errno_error("cannot open " + group));
  bpf_attr attach{};
  attach.target_fd = static_cast<std::uint32_t>(directory.get());
  attach.attach_bpf_fd = static_cast<std::uint32_t>(loaded.get());
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;  // beside the filters of groups around and within
  if (call_bpf(BPF_PROG_ATTACH, attach) != 0)
    return fail(errno_error("cannot attach a filter of devices to " + group));
  return {};
}

}  // namespace ares::os
