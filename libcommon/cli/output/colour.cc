#include "cli/output/colour.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "base/printable.h"
#include "cli/output/text.h"
#include "model/job/job.h"

namespace ares::cli {
namespace {

constexpr std::string_view kRed = "\x1b[31m", kGreen = "\x1b[32m", kYellow = "\x1b[33m",
                           kMagenta = "\x1b[35m", kCyan = "\x1b[36m", kEnd = "\x1b[0m";

std::string_view colour_of(JobState state) {
  switch (state) {
    case JobState::pending: return kYellow;
    case JobState::running: return kGreen;
    case JobState::completed: return kCyan;
    case JobState::configuring:
    case JobState::completing:
    case JobState::suspended:
    case JobState::cancelled:
    case JobState::preempted: return kMagenta;
    case JobState::failed:
    case JobState::timeout:
    case JobState::node_fail:
    case JobState::out_of_memory:
    case JobState::boot_fail:
    case JobState::deadline: return kRed;
  }
  return {};
}

// States of nodes, in short and in full.
struct NodeColour {
  std::string_view colour, brief, full;
};
constexpr std::array<NodeColour, 13> kNodes = {{{kGreen, "idle", "idle"},
                                                {kCyan, "mix", "mixed"},
                                                {kCyan, "alloc", "allocated"},
                                                {kMagenta, "comp", "completing"},
                                                {kYellow, "resv", "reserved"},
                                                {kYellow, "maint", "maint"},
                                                {kYellow, "boot", "reboot_issued"},
                                                {kYellow, "drng", "draining"},
                                                {kYellow, "drain", "drained"},
                                                {kRed, "failg", "failing"},
                                                {kRed, "fail", "fail"},
                                                {kRed, "down", "down"},
                                                {kRed, "unk", "unknown"}}};

bool has_variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value;
}

}  // namespace

Option colour_option(ColourWhen& chosen) {
  Option row{0, "color", "[auto|always|never]",
             "Show states in colours; without a word always. Default: auto, which is on a terminal "
             "and unless NO_COLOR is set. What programs read is never coloured.",
             [&chosen](const std::string& value) -> Status {
               const std::string word = lower(value);
               if (word == "auto")
                 chosen = ColourWhen::automatic;
               else if (word.empty() || word == "always")
                 chosen = ColourWhen::always;
               else if (word == "never")
                 chosen = ColourWhen::never;
               else
                 return invalid(quote(value) + ": expected auto, always or never");
               return {};
             }};
  row.aliases = {"colour"};
  return row;
}

bool colours_on(ColourWhen chosen) {
  return colours_on(chosen, STDOUT_FILENO);
}

bool colours_on(ColourWhen chosen, int descriptor) {
  if (chosen != ColourWhen::automatic) return chosen == ColourWhen::always;
  if (has_variable("NO_COLOR") || ::isatty(descriptor) != 1) return false;
  const char* terminal = std::getenv("TERM");
  return terminal && *terminal && std::string_view(terminal) != "dumb";
}

std::string_view colour_of(std::string_view state) {
  state = state.substr(0, state.find(' '));
  if (state == kSpecialExit || state == kSpecialExitCode) return kRed;
  if (state == "REQUEUED") return kMagenta;
  if (const auto job = parse_job_state(state)) return colour_of(*job);
  const bool is_silent = state.ends_with('*');
  const std::string word = lower(state.substr(0, state.find_first_of("*~#!%$@^-+")));
  for (const NodeColour& row : kNodes)
    if (word == row.brief || word == row.full) return is_silent ? kRed : row.colour;
  return {};
}

void put_coloured(std::string_view text, std::string_view state, std::string& out) {
  const std::string_view colour = colour_of(state);
  out += colour;
  out += text;
  if (!colour.empty()) out += kEnd;
}

}  // namespace ares::cli
