// What several options of a submission say together.
#include <cstdio>
#include <filesystem>
#include <limits>

#include "base/printable.h"
#include "cli/values/spec_values.h"
#include "model/job/mail.h"
#include "submission/hint_options.h"
#include "submission/submission.h"
#include "submission/translated_options.h"

namespace ares::submission {
namespace {

// Each node has a task, as in Slurm: `-N4 -n2` is a job of two nodes.
void fit_nodes_to_tasks(Submission& target) {
  api::JobSpec& spec = target.spec;
  const std::uint32_t tasks = spec.tasks();
  if (tasks == 0 || spec.min_nodes() <= tasks) return;
  target.warnings.push_back(std::to_string(tasks) + (tasks == 1 ? " task" : " tasks") +
                            " cannot run on " + std::to_string(spec.min_nodes()) +
                            " nodes; the job asks for " + std::to_string(tasks) + " instead");
  spec.clear_node_counts();
  spec.set_min_nodes(tasks);
  spec.set_max_nodes(tasks);
}

// As Slurm, where a site's nodes have GPUs that it does not count.
void drop_amounts_of_no_gpus(Submission& target) {
  api::JobSpec& spec = target.spec;
  const bool gpus = !spec.gpus_per_node().empty() || !spec.gpus_per_task().empty() ||
                    !spec.gpus_total().empty() || !spec.gpu_alternatives().empty();
  if (gpus) return;
  const auto warn = [&](const char* option) {
    target.warnings.push_back(std::string(option) +
                              " has no effect: the job asks for no GPUs; add --gres=gpu:COUNT");
  };
  if (spec.cpus_per_gpu() > 0) warn("--cpus-per-gpu");
  if (spec.has_memory_per_gpu()) warn("--mem-per-gpu");
  spec.clear_cpus_per_gpu();
  spec.clear_memory_per_gpu();
}

void check_mail(Submission& target) {
  const std::string& address = target.spec.mail_user();
  if (address.empty()) return;
  if (const Status good = check_mail_user(address); !good)
    target.warnings.push_back("--mail-user: " + good.error().message + "; no mail will be sent");
}

}  // namespace

void print_warnings(const char* command, const Submission& submission) {
  if (submission.quiet) return;
  for (const std::string& warning : submission.warnings)
    std::fprintf(stderr, "%s: warning: %s\n", command, warning.c_str());
}

Status complete(Submission& target, const std::string& origin, const std::string& directory) {
  namespace fs = std::filesystem;
  api::JobSpec& spec = target.spec;
  if (spec.name().empty()) {
    const std::string base = fs::path(origin).filename().string();
    spec.set_name(target.wrap ? "wrap" : base.empty() ? "asub" : printable(base));
  }
  if (spec.cpus_per_task() == 0) spec.set_cpus_per_task(1);
  if (Status good = complete_tasks_per_gpu(target); !good) return good;
  drop_amounts_of_no_gpus(target);
  fit_nodes_to_tasks(target);
  check_mail(target);
  if (spec.tasks() == 0 && spec.min_nodes() > 0 && spec.gpus_per_task().empty()) {
    const std::uint64_t tasks =
        std::uint64_t{spec.min_nodes()} * std::max(spec.tasks_per_node(), 1u);
    spec.set_tasks(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(tasks, std::numeric_limits<std::uint32_t>::max())));
  }
  check_least_cpus(target);
  complete_tasks_per_core(target);
  spec.set_submit_dir(directory);
  const fs::path work =
      spec.work_dir().empty() ? fs::path(directory) : fs::path(directory) / spec.work_dir();
  spec.set_work_dir(work.lexically_normal().string());
  return cli::complete_checkpoint(spec);
}

}  // namespace ares::submission
