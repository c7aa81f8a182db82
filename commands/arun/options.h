// The options of arun. Owned by main(); plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arun/step_resources.h"
#include "cli/options/common_options.h"
#include "cli/options/manual.h"
#include "cli/options/options.h"
#include "steps/request.h"
#include "submission/submission.h"

namespace ares::arun {

struct Wanted {
  steps::StepRequest request;
  std::string input, output, errors;  // as given; empty: those of arun
  std::string export_names;           // of --export
  std::string node_list, excluded;
  StepResources resources;
  std::optional<std::string> broadcast;  // of --bcast: where to, or empty
  bool compress = false;                 // the copy of --bcast on its way
  std::string prolog, epilog;            // programs that arun runs before and after the step
  std::string open_mode, mpi, distribution, directory, job;
  std::string other_binding;  // of --cpu-bind, which has the effect of another one here
  bool bound = false;         // --cpu-bind was given
  std::optional<std::uint32_t> tasks, nodes;
  bool label = false;
  bool unbuffered = false;
  bool pty = false;
  bool quit_on_interrupt = false;
  bool quiet = false;
  std::string program = "arun";  // for messages
  bool is_srun() const { return program == "srun"; }
  // aattach: joins this step instead of creating one, or only says where its tasks run.
  std::optional<std::uint32_t> attach_to;
  bool only_layout = false;
  std::uint32_t wait_seconds =
      0;                       // from the end of the first task to that of the step; 0: no limit
  std::uint32_t relative = 0;  // the first node of the job that the step may use
  bool multi_prog = false;
  cli::CommonOptions common;
  // Where there is no job: what is asked for it, and which options were given for that alone.
  submission::Submission allocation;
  std::vector<std::string> of_allocation;
};

// `now` is the time that relative times count from.
cli::OptionTable options(Wanted& wanted, Time now);
cli::Manual manual();

// The number that the whole text is, up to a million.
std::optional<std::uint32_t> number_of(std::string_view text);

// Where the tasks' streams come from and go to, in arun itself.
struct Streams {
  bool sends_input = false;
  int input = 0;                             // the descriptor that it comes from
  std::size_t input_part = 0;                // most bytes of one message; 0: as many as come
  std::string output, errors;                // files that arun writes; empty: its own streams
  std::optional<std::uint32_t> output_rank;  // the only task whose output is kept
  bool no_output = false;
  std::optional<std::uint32_t> errors_rank;
  bool no_errors = false;
};

// Fills in what the options leave open from the environment of the job, and sorts the files into those
// that tasks open on their nodes and those of arun. `environment` has NAME=value.
Result<Streams> complete(Wanted& wanted, const std::vector<std::string>& environment,
                         const std::vector<std::string>& operands);

// The same for `ares-rsh [OPTIONS] HOST COMMAND...`: the words of the command are joined for sh -c, as rsh
// and ssh do. Their options that have no meaning within a job are passed over.
Result<Streams> complete_remote_shell(Wanted& wanted, const std::vector<std::string>& environment,
                                      const std::vector<std::string>& words);

}  // namespace ares::arun
