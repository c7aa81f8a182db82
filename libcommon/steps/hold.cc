#include "steps/hold.h"

#include <csignal>

namespace ares::steps {
namespace {

// As for a program whose terminal is gone.
constexpr std::uint32_t kCommandLost = 128 + SIGHUP;

}  // namespace

void AllocationHold::script_waits(ClientId script, bool unheld, BootTime now) {
  script_ = script;
  unheld_ = unheld;
  if (commands_.empty()) alone_since_ = now;
}

void AllocationHold::command_holds(ClientId command) {
  commands_.insert(command);
  alone_since_.reset();
}

std::optional<std::uint32_t> AllocationHold::command_releases(ClientId command,
                                                              std::uint32_t code) {
  if (!code_) code_ = told_ ? kCommandLost : code;
  released_by_ = command;
  return told_ ? code_ : std::nullopt;
}

void AllocationHold::client_lost(ClientId client, BootTime now) {
  if (script_ == client) {
    script_.reset();
    alone_since_.reset();
  }
  if (commands_.erase(client) != 0 && commands_.empty() && script_) alone_since_ = now;
}

std::optional<BootTime> AllocationHold::deadline() const {
  if (!script_ || unheld_ || !alone_since_) return std::nullopt;
  return *alone_since_ + timeout_;
}

std::optional<AllocationHold::Release> AllocationHold::due(BootTime now) {
  if (!script_) return std::nullopt;
  Release release{*script_, released_by_, code_.value_or(kCommandLost), {}};
  if (!code_) {
    if (const auto at = deadline(); !at || now < *at) return std::nullopt;
    release.why = "the command that asked for this allocation has had no connection to it for " +
                  std::to_string(timeout_.count()) + " s (node.allocation_timeout)";
  }
  script_.reset();
  alone_since_.reset();
  told_ = true;
  return release;
}

}  // namespace ares::steps
