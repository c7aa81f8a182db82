// Parses the options that bind a job's tasks to CPUs, memory and GPUs. Each function checks one value
// by model/job/binding_options.h and stores it in lower case. Pure functions; any thread. All errors
// are invalid_argument; the caller adds the option's name.
#pragma once

#include <string>

#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

Status set_hint(api::JobSpec& spec, const std::string& text);              // nomultithread
Status set_threads_per_core(api::JobSpec& spec, const std::string& text);  // 1
Status set_cpu_bind(api::JobSpec& spec, const std::string& text);          // mask_cpu:0x3,0xc
Status set_mem_bind(api::JobSpec& spec, const std::string& text);          // local
Status set_gpu_bind(api::JobSpec& spec, const std::string& text);          // closest
Status set_distribution(api::JobSpec& spec, const std::string& text);      // block:cyclic

}  // namespace ares::cli
