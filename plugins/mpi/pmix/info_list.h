// An array of Info as the library takes it, with all that it points to. Owned by one call; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/pmix/api.h"

namespace ares::mpi::pmix {

class InfoList {
 public:
  void add_string(std::string_view key, std::string value);
  void add_boolean(std::string_view key, bool value);
  void add_uint16(std::string_view key, std::uint16_t value);
  void add_uint32(std::string_view key, std::uint32_t value);
  void add_rank(std::string_view key, std::uint32_t value);
  // A list of names, or lists of ranks.
  void add_map(std::string_view key, const std::string& value);
  void add_array(std::string_view key, InfoList value);

  // Valid until the next change.
  Info* data() { return infos_.data(); }
  std::size_t size() const { return infos_.size(); }

 private:
  Value& add(std::string_view key, Type type);

  std::vector<Info> infos_;
  std::vector<std::unique_ptr<std::string>> strings_;
  std::vector<std::unique_ptr<InfoList>> lists_;
  std::vector<std::unique_ptr<Array>> arrays_;
};

}  // namespace ares::mpi::pmix
