#include "node/step_message.h"

#include "base/printable.h"
#include "node/text_fields.h"

namespace ares::node {
namespace {

struct Encoder {
  std::string operator()(const StepGo& c) const {
    FieldWriter out;
    out.put("command", "go").put("fence", c.fence);
    if (c.lease_until) out.put("lease_until_us", c.lease_until->time_since_epoch().count());
    return out.take();
  }
  std::string operator()(const StepKill& c) const {
    FieldWriter out;
    out.put("command", "kill").put("fence", c.fence).put("immediately", c.immediately);
    if (c.grace) out.put("grace", c.grace->count());
    return out.take();
  }
  std::string operator()(const StepSignal& c) const {
    return FieldWriter()
        .put("command", "signal")
        .put("fence", c.fence)
        .put("lsn", c.lsn)
        .put("signal", c.signal)
        .put("batch_only", c.batch_only)
        .take();
  }
  std::string operator()(const StepSetLimit& c) const {
    FieldWriter out;
    out.put("command", "set_limit").put("fence", c.fence).put("lsn", c.lsn);
    if (c.time_limit) out.put("seconds", c.time_limit->count());
    return out.take();
  }
  std::string operator()(const StepSetSuspended& c) const {
    return FieldWriter()
        .put("command", "set_suspended")
        .put("fence", c.fence)
        .put("lsn", c.lsn)
        .put("suspended", c.suspended)
        .put("grace", c.grace.count())
        .take();
  }
  std::string operator()(const StepRenewLease& c) const {
    return FieldWriter()
        .put("command", "renew_lease")
        .put("until_us", c.until.time_since_epoch().count())
        .take();
  }
  std::string operator()(const StepCheckpointKnown& c) const {
    return FieldWriter()
        .put("command", "checkpoint_known")
        .put("fence", c.fence)
        .put("sequence", c.sequence)
        .take();
  }
};

BootTime boot_time(std::int64_t us) {
  return BootTime(Duration(us));
}

}  // namespace

std::string encode(const StepCommand& command) {
  // Last, because release 0.1.0 wrote the command first.
  return std::visit(Encoder(), command) + FieldWriter().put("version", kStepVersion).take();
}

Result<StepCommand> decode_step_command(std::string_view packet) {
  FieldReader in("packet", packet);
  if (const auto version = in.number_or<std::uint32_t>("version", 1); version > kStepVersion)
    return fail(ErrorCode::failed_precondition, "packet is of version " + std::to_string(version) +
                                                    ", and this program understands up to " +
                                                    std::to_string(kStepVersion));
  const std::string name = in.text("command");
  StepCommand command;
  if (name == "go") {
    StepGo c{in.id<Fence>("fence"), std::nullopt};
    if (auto us = in.optional_number<std::int64_t>("lease_until_us"))
      c.lease_until = boot_time(*us);
    command = c;
  } else if (name == "kill") {
    StepKill c{in.id<Fence>("fence"), in.flag("immediately"), std::nullopt};
    if (auto s = in.optional_number<std::int64_t>("grace")) c.grace = Seconds(*s);
    command = c;
  } else if (name == "signal") {
    command = StepSignal{in.id<Fence>("fence"), in.id<Lsn>("lsn"),
                         in.number<std::int32_t>("signal"), in.flag("batch_only")};
  } else if (name == "set_limit") {
    StepSetLimit c{in.id<Fence>("fence"), in.id<Lsn>("lsn"), std::nullopt};
    if (auto s = in.optional_number<std::int64_t>("seconds")) c.time_limit = Seconds(*s);
    command = c;
  } else if (name == "set_suspended") {
    command = StepSetSuspended{in.id<Fence>("fence"), in.id<Lsn>("lsn"), in.flag("suspended"),
                               Seconds(in.number<std::int64_t>("grace"))};
  } else if (name == "renew_lease") {
    command = StepRenewLease{boot_time(in.number<std::int64_t>("until_us"))};
  } else if (name == "checkpoint_known") {
    command = StepCheckpointKnown{in.id<Fence>("fence"), in.number<std::uint64_t>("sequence")};
  } else {
    in.wrong("command", "is unknown: " + quote(name));
  }
  if (Status status = in.status(); !status) return fail(status.error());
  return command;
}

std::string_view to_string(StepNotice notice) {
  switch (notice) {
    case StepNotice::ready: return "ready";
    case StepNotice::running: return "running";
    case StepNotice::finished: return "finished";
  }
  return "unknown";
}

std::optional<StepNotice> parse_step_notice(std::string_view packet) {
  for (StepNotice notice : {StepNotice::ready, StepNotice::running, StepNotice::finished})
    if (packet == to_string(notice)) return notice;
  return std::nullopt;
}

}  // namespace ares::node
