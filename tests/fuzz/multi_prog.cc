// The file of arun --multi-prog. What is read survives the way to the nodes, and each task's command line is bounded.
#include "arun/multi_prog.h"
#include "fuzz/target.h"
#include "steps/program.h"

namespace ares::fuzz {

const Allowance kAllowance{std::size_t{4} << 20, 4096};

void try_input(std::string_view input) {
  auto programs = arun::read_multi_prog(input, "file");
  if (!programs) return require_fit_to_show(programs.error().message);
  steps::StepRequest request;
  request.task.arguments = {"file"};
  request.task.directory = "/";
  request.task.programs = std::move(*programs);
  for (const steps::Program& program : request.task.programs)
    for (const std::string& word : program.arguments)
      if (word.find('\0') != std::string::npos) return;  // refused by the nodes
  const auto again = steps::decode_request(encode(request));
  require(again && *again == request, "what was read survives being sent");
  for (const std::uint32_t rank : {0U, 1U, 7U, 999'999U})
    if (const auto words = steps::arguments_of(request.task, rank))
      require(!words->empty(), "a task has a program");
}

}  // namespace ares::fuzz
