#include "aattach/options.h"

#include <charconv>
#include <functional>
#include <optional>

#include "base/printable.h"

namespace ares::aattach {
namespace {

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "all", "none" or a rank.
std::function<Status(const std::string&)> set_filter(std::string& filter) {
  return [&filter](const std::string& text) -> Status {
    if (text != "all" && text != "none" && !number_of(text))
      return fail(ErrorCode::invalid_argument, quote(text) + " is not a rank, all or none");
    filter = text;
    return {};
  };
}

}  // namespace

cli::OptionTable options(Asked& asked) {
  cli::OptionTable table;
  table.environment_prefix = "AATTACH_";
  table.options = {
      {0, "input-filter", "RANK",
       "Pass what aattach reads to this task, or with all to all of them. Default: none.",
       [&asked, set = set_filter(asked.input)](const std::string& text) -> Status {
         if (Status good = set(text); !good) return good;
         asked.input_rank = number_of(text).value_or(UINT32_MAX);
         return {};
       }},
      {0, "output-filter", "RANK", "Show the standard output of this task only, or none.",
       set_filter(asked.output)},
      {0, "error-filter", "RANK", "Show the standard error of this task only, or none.",
       set_filter(asked.errors)},
      {0,
       "pty",
       "",
       "Join the terminal of task 0, in a step that was started with --pty: see TERMINALS.",
       cli::set_flag(asked.pty),
       {},
       {"input-filter", "output-filter", "error-filter", "label"}},
      {'l', "label", "", "Begin each line with the rank of its task.", cli::set_flag(asked.label)},
      {0, "layout", "", "Say which tasks run on which nodes, and end.",
       cli::set_flag(asked.layout)},
      {'Q', "quiet", "", "Do not tell how tasks failed.", cli::set_flag(asked.quiet)}};
  cli::add_common_options(table, asked.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "aattach",
      .summary = "show what the tasks of a running step write",
      .synopsis = {"[OPTIONS] JOB.STEP"},
      .description =
          {"aattach joins a step that runs, and writes what its tasks write from then on, as the "
           "arun that started the step does. Several may look at a step at the same time. Only the "
           "job's user and operators may.",
           "A step never waits for aattach: what aattach is too slow to take is left out, and it "
           "says how many bytes those were.",
           "Ctrl-C ends aattach and nothing else, unless it has joined a terminal. It ends by "
           "itself with the step."},
      .sections =
          {{"TERMINALS",
            {"With --pty what you type goes to the terminal of task 0, beside what its own "
             "arun reads, and both show what it writes. The terminal keeps the size of that "
             "of arun. Ctrl-C goes to the task as well: to leave, end aattach from another "
             "terminal with kill(1), or close its own. The step goes on."}}},
      .examples = {{"aattach 4711.0", "What the first step of job 4711 writes."},
                   {"aattach -l --output-filter=0 4711.0", "Of task 0 only."},
                   {"aattach --layout 4711.0", "Where its tasks run."},
                   {"echo next | aattach --input-filter=0 4711.0", "Give task 0 a line to read."}},
      .exit_status =
          {{"N", "The highest exit code of the tasks that ended while it looked on."},
           {"1",
            "There is no such step, or it may not be seen; a line on standard error says why."},
           {"130", "Ended by Ctrl-C; of another signal 128 + its number."}},
      .see_also = {"arun(1)", "aalloc(1)", "aqueue(1)"}};
}

Result<Target> parse_target(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  const auto step =
      dot == std::string::npos ? std::nullopt : number_of(std::string_view(text).substr(dot + 1));
  if (!step || dot == 0)
    return fail(ErrorCode::invalid_argument,
                quote(text) + " is not a step, such as 4711.0: JOB.STEP");
  return Target{text.substr(0, dot), *step};
}

Result<arun::Streams> streams_of(const Asked& asked) {
  arun::Streams streams;
  streams.sends_input = asked.pty || (!asked.input.empty() && asked.input != "none");
  streams.no_output = asked.output == "none";
  streams.no_errors = asked.errors == "none";
  streams.output_rank = number_of(asked.output);
  streams.errors_rank = number_of(asked.errors);
  return streams;
}

}  // namespace ares::aattach
