#include "asim/read_workload.h"

#include "asim/gpu_trace.h"
#include "asim/swf.h"
#include "asim/yaml_workload.h"

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
    if (name.ends_with(".yaml") || name.ends_with(".yml")) return read_yaml_workload(path, seed);
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

}  // namespace ares::sim
