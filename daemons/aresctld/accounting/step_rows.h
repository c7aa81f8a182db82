// Steps in the rows of accounting that the database does not have: those of running jobs, as their nodes
// told last, and batch scripts of jobs without other steps. Called by AccountingReader; pure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "model/job/step_record.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// What the attempt's first node told last of its steps.
using LiveSteps =
    std::function<std::vector<StepRecord>(const std::string& node, const AttemptKey&)>;

void to_api(const StepRecord& step, api::AccountingStep& out);

// Completes the steps of every row. `fields_of_steps()` must have been read.
void complete_steps(const LiveSteps& live, api::AccountingRows& rows);

// Numbers of the fields of AccountingRow that complete_steps() reads.
std::vector<std::uint32_t> fields_of_steps();

}  // namespace ares::aresctld
