// Parses the values of job properties for asub and `actl update job`. Each function stores one
// value in the specification. Pure functions; any thread. All errors are invalid_argument; the
// caller adds the option's name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "proto/gen/api.pb.h"

namespace ares::cli {

Status set_nodes(api::JobSpec& spec, const std::string& text);  // 2, 2-4, 1-15:4
// 2, 0.5, 500m. cpus_per_task is the amount rounded up.
Status set_cpus_per_task(api::JobSpec& spec, const std::string& text);
Status set_memory_per_node(api::JobSpec& spec, const std::string& text);
Status set_memory_per_cpu(api::JobSpec& spec, const std::string& text);
Status set_memory_per_gpu(api::JobSpec& spec, const std::string& text);
Status set_tmp_disk(api::JobSpec& spec, const std::string& text);
Status set_gpus_per_task(api::JobSpec& spec, const std::string& text);
Status set_gpus_total(api::JobSpec& spec,
                      const std::string& text);  // 4, a100:4, a100:2,h100:2, h100:4|a100:8@1.5
Status set_gpus_per_node(api::JobSpec& spec, const std::string& text);
Status set_gres(api::JobSpec& spec, const std::string& text);          // gpu, gpu:2, gpu:a100:2
Status set_gpu_topology(api::JobSpec& spec, const std::string& text);  // nvlink, any
Status set_min_nvlink(api::JobSpec& spec, const std::string& text);
// Seconds are rounded up to a minute.
Status set_time_limit(api::JobSpec& spec, const std::string& text);
Status set_time_min(api::JobSpec& spec, const std::string& text);
Status set_array(api::JobSpec& spec, const std::string& text);  // 0-15:4, 1,3,5-9%2
Status set_dependencies(api::JobSpec& spec,
                        // afterok:12:13,after:14_3+5; with ? any one suffices.
                        const std::string& text);
// Prints dependencies in the format above: afterok:12,after:13+5.
std::string format_dependencies(const google::protobuf::RepeatedPtrField<api::Dependency>& list);
Status set_begin(api::JobSpec& spec, const std::string& text, Time now);
Status set_deadline(api::JobSpec& spec, const std::string& text, Time now);
Status set_licenses(api::JobSpec& spec, const std::string& text);    // a:2,b  or  a|b
Status set_constraint(api::JobSpec& spec, const std::string& text);  // a&b, [a|b], a*2&b*4
Status set_prefer(api::JobSpec& spec, const std::string& text);
Status set_reservations(api::JobSpec& spec, const std::string& text);
Status set_switches(api::JobSpec& spec, const std::string& text);  // 1, 2@10:00
Status set_segment(api::JobSpec& spec, const std::string& text);
Status set_required_nodes(api::JobSpec& spec, const std::string& text);
Status set_excluded_nodes(api::JobSpec& spec, const std::string& text);
Status set_nice(api::JobSpec& spec, const std::string& text);
Status set_priority(api::JobSpec& spec, const std::string& text);
Status set_open_mode(api::JobSpec& spec, const std::string& text);
Status set_exclusive(api::JobSpec& spec, const std::string& text);
Status set_kill_on_invalid_dependency(api::JobSpec& spec, const std::string& text);
Status set_partitions(api::JobSpec& spec, const std::string& text);
Status set_requeue(api::JobSpec& spec, const std::string& text);
Status set_gang(api::JobSpec& spec, const std::string& text);
Status set_gang_size(api::JobSpec& spec, const std::string& text);
Status set_gang_min(api::JobSpec& spec, const std::string& text);
Status set_gang_timeout(api::JobSpec& spec, const std::string& text);  // as a time limit, 0 = none
Status set_mail_types(api::JobSpec& spec, const std::string& text);    // BEGIN,end, ALL, NONE
Status set_mail_user(api::JobSpec& spec, const std::string& text);
Status set_warning_signal(api::JobSpec& spec, const std::string& text);
Status set_checkpoint(api::JobSpec& spec, const std::string& text);
Status set_checkpoint_keep(api::JobSpec& spec, const std::string& text);
Status set_checkpoint_signal(api::JobSpec& spec, const std::string& text);
// Once the working directory is known: the absolute directory, and what the options left open.
Status complete_checkpoint(api::JobSpec& spec);

}  // namespace ares::cli
