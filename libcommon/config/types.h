// The kinds of values in ares.yaml.
// Internal to config/; each function makes an immutable row for the tables.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/units.h"
#include "config/fields.h"
#include "model/policy/policy.h"

namespace ares::config {

Type<std::string> text_type();
Type<std::string> name_type();  // of a cluster, a partition: letters, digits, . _ -
Type<std::string> choice_type(std::vector<std::string> words);
Type<std::string> program_type();  // an absolute path, or nothing
Type<std::string> file_type();     // the same, of a file that is read
Type<std::vector<std::string>> text_list_type();
Type<std::vector<std::string>> address_list_type();  // unix:/path, tcp:host:port
Type<std::vector<std::string>> host_list_type();     // n[1-4]; ALL stays as it is
Type<bool> boolean_type();
Type<std::uint16_t> port_type();
Type<std::uint32_t> count_type(std::uint32_t min = 0);
Type<std::int32_t> integer_type();
Type<std::optional<std::uint32_t>> bound_type();              // a count, or UNLIMITED
Type<double> fraction_type();                                 // 0 to 1
Type<std::map<std::string, std::uint32_t>> count_map_type();  // {matlab: 10}
Type<std::map<std::string, double>> price_map_type();         // {cpu: 0.02, "gres/gpu": 1.5}
Type<Seconds> duration_type();                                // plain numbers are seconds
Type<std::optional<Seconds>> time_limit_type();               // plain numbers are minutes
Type<std::chrono::milliseconds> milliseconds_type();
Type<Bytes> memory_type();          // plain numbers are MiB
Type<std::uint32_t> size_type();    // plain numbers are bytes
Type<PortRange> port_range_type();  // 20000-24999, or NONE

}  // namespace ares::config
