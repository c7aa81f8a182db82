#include "model/job/step_record.h"

namespace ares {

std::string_view to_string(StepState state) {
  switch (state) {
    case StepState::running: return "RUNNING";
    case StepState::completed: return "COMPLETED";
    case StepState::failed: return "FAILED";
    case StepState::cancelled: return "CANCELLED";
    case StepState::out_of_memory: return "OUT_OF_MEMORY";
    case StepState::timeout: return "TIMEOUT";
  }
  return "UNKNOWN";
}

}  // namespace ares
