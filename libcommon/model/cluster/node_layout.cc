#include "model/cluster/node_layout.h"

#include <utility>

#include "base/hostlist.h"

namespace ares {

NodeLayout::NodeLayout(std::vector<std::string> names_, std::vector<std::uint32_t> cpus_,
                       std::vector<std::uint32_t> tasks_, std::vector<std::uint32_t> gpus_)
    : names(std::move(names_)),
      cpus(std::move(cpus_)),
      tasks(std::move(tasks_)),
      gpus(std::move(gpus_)),
      list(compress_hostlist(names)) {}

}  // namespace ares
