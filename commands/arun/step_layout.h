// How the tasks of a step are laid out over nodes and CPUs, and how they find each other, where an option of
// arun or else one of the job says so. `of_job`: what the job was submitted with; null: nothing. `program` is
// for warnings; empty: none. Called by complete().
#pragma once

#include <string>

#include "base/result.h"
#include "steps/request.h"

namespace ares::arun {

// As --distribution says, or else as the job was submitted, of which a step follows what it knows.
// invalid_argument: a step does not know the option's value.
Status choose_distribution(const std::string& wanted, const char* of_job,
                           const std::string& program, steps::StepRequest& request);

// The --cpu-bind of the job, for a step that has none.
void choose_binding(const char* of_job, steps::StepRequest& request);

// invalid_argument: --mpi names something else.
Status choose_mpi(const std::string& wanted, const std::string& program,
                  steps::StepRequest& request);

}  // namespace ares::arun
