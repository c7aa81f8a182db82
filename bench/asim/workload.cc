#include "asim/workload.h"

#include <algorithm>
#include <tuple>

#include "asim/gpu_trace.h"
#include "asim/own_workload.h"
#include "asim/swf.h"

namespace ares::sim {
namespace {

std::string file_name(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name;
}

}  // namespace

Result<Workload> read_workload(const std::string& path, std::uint64_t seed) {
  const std::string name = file_name(path);
  const auto read = [&]() -> Result<Workload> {
    if (name.ends_with(".yaml") || name.ends_with(".yml")) return read_own_workload(path, seed);
    auto lines = Lines::open(path);
    if (!lines) return fail(lines.error());
    if (name.ends_with(".csv")) return read_gpu_trace(std::move(*lines));
    if (name.ends_with(".swf")) return read_swf(std::move(*lines));
    return fail(ErrorCode::invalid_argument,
                path +
                    ": what kind of workload this is shows in its name: .swf, .csv (both also "
                    "with .gz) or .yaml");
  };
  Result<Workload> workload = read();
  if (workload) workload->name = name;
  return workload;
}

void settle(Workload& workload, std::uint64_t most) {
  std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                   [](const WorkJob& a, const WorkJob& b) {
                     return std::tie(a.submit, a.number) < std::tie(b.submit, b.number);
                   });
  if (most > 0 && workload.jobs.size() > most) workload.jobs.resize(most);
  const auto note = [&](const char* what, auto&& holds) {
    const auto count = std::count_if(workload.jobs.begin(), workload.jobs.end(), holds);
    if (count > 0) workload.notes[what] = static_cast<std::uint64_t>(count);
  };
  note("have no requested time: their run time stands for it",
       [](const WorkJob& job) { return !job.limit; });
  note("ran longer than they had asked for",
       [](const WorkJob& job) { return job.limit && job.run > *job.limit; });
  note("ran for no time at all", [](const WorkJob& job) { return job.run.count() == 0; });
}

}  // namespace ares::sim
