// The first line of the matrix: the devices and affinities of its columns.
// A plain value; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/topology/matrix/text.h"

namespace ares::core::topology {

enum class Affinity { cpu, numa, own_numa };

struct HeaderDevice {
  std::string name;
  std::optional<unsigned> gpu;  // GPU number; none = a NIC
  TextPosition place;
};

struct HeaderAffinity {
  Affinity kind;
  std::size_t column = 0;  // column at which its name begins
};

struct Header {
  std::vector<HeaderDevice> devices;
  std::vector<HeaderAffinity> affinities;
  std::map<std::string, std::size_t, std::less<>> by_name;  // position in `devices`

  std::optional<std::size_t> find(std::string_view name) const;
};

// 3 for "GPU3".
std::optional<unsigned> gpu_number(std::string_view word);

// Whether these words form a header line: the first one names a GPU, and all are names.
bool is_header(const std::vector<Word>& words);

// invalid_argument: GPU numbers from kMaxGpus on, names that are not fit to show, too many devices, duplicates, unknown columns.
Result<Header> parse_header(const Line& line);

}  // namespace ares::core::topology
