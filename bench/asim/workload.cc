#include "asim/workload.h"

#include <algorithm>
#include <tuple>

namespace ares::sim {

void sort_and_limit(Workload& workload, std::uint64_t most) {
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
