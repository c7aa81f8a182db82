// `actl topology`: reads the matrix and prints the topology.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <utility>

#include "actl/command.h"
#include "actl/topology/topology.h"
#include "core/topology/matrix/matrix.h"

namespace ares::actl {
namespace {

using namespace core::topology;

// Maximum input size; the parser refuses less.
constexpr std::size_t kMaxText = std::size_t{2} << 20;

Result<std::string> read_all(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text(kMaxText, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.empty())
    return fail(ErrorCode::not_found,
                (path == "-" ? "standard input" : "cannot read " + path + ", or it") +
                    std::string(" is empty; give the output of nvidia-smi topo -m"));
  return text;
}

}  // namespace

Result<int> show_topology(Context& context, const Words& operands) {
  if (operands.size() != 1) return invalid("name one file with the output of nvidia-smi topo -m");
  const auto text = read_all(operands[0]);
  if (!text) return fail(text.error());
  auto matrix = parse_matrix(*text);
  if (!matrix) return fail(matrix.error().code, operands[0] + ": " + matrix.error().message);
  const MachineTopology machine(std::move(*matrix));
  const auto allocation = allocate(machine, context.flags.topology);
  if (!allocation) return fail(allocation.error());
  if (context.flags.document) {
    cli::print_document(context.flags.document, topology_json(machine, *allocation));
    return 0;
  }
  if (context.flags.quiet && *allocation) {
    std::puts(format_gpu_set((*allocation)->gpus).c_str());
    return 0;
  }
  if (!context.flags.quiet) std::fputs(topology_text(machine).c_str(), stdout);
  if (*allocation) std::fputs(("\n" + allocation_text(machine, **allocation)).c_str(), stdout);
  return 0;
}

}  // namespace ares::actl
