#include "arun/step_layout.h"

#include <cstdio>

#include "model/job/binding_options.h"

namespace ares::arun {
namespace {

void warn(const std::string& program, const std::string& text) {
  if (!program.empty()) std::fprintf(stderr, "%s: warning: %s\n", program.c_str(), text.c_str());
}

}  // namespace

Status choose_distribution(const std::string& wanted, const char* of_job,
                           const std::string& program, steps::StepRequest& request) {
  const std::string text = !wanted.empty() ? wanted : of_job ? of_job : "";
  const std::string first = text.substr(0, text.find_first_of(":,"));
  if (first.empty() || first == "block" || first == "*" || first == "pack" || first == "nopack")
    return {};
  if (first == "cyclic") {
    request.spread = steps::Spread::cyclic;
    return {};
  }
  if (!wanted.empty())
    return fail(ErrorCode::invalid_argument,
                "--distribution=" + text + ": a step knows block and cyclic");
  warn(program,
       "--distribution=" + text + " of the job: a step knows block and cyclic, and takes block");
  return {};
}

void choose_binding(const char* of_job, steps::StepRequest& request) {
  if (!of_job) return;
  if (const Result<CpuBind> bind = parse_cpu_bind(of_job))
    request.task.bind = bind->kind != CpuBindKind::none;
}

Status choose_mpi(const std::string& wanted, const std::string& program,
                  steps::StepRequest& request) {
  steps::Mpi& mpi = request.task.mpi;
  if (wanted == "none") {
    mpi = steps::Mpi::none;
  } else if (wanted.empty() || wanted == "pmi1") {
    mpi = steps::Mpi::pmi1;
  } else if (wanted.starts_with("pmix")) {  // pmix_v4 of Slurm, too
    mpi = steps::Mpi::pmix;
  } else if (wanted == "pmi2") {
    // Slurm's server of that name understands both.
    warn(program,
         "--mpi=pmi2: programs find PMI-1; one whose library knows PMI-2 alone needs --mpi=pmix");
    mpi = steps::Mpi::pmi1;
  } else {
    return fail(
        ErrorCode::invalid_argument,
        "--mpi=" + wanted + ": it is pmi1 (MPICH and its relatives), pmix (Open MPI) or none");
  }
  return {};
}

}  // namespace ares::arun
