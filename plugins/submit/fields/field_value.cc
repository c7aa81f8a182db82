#include "submit/fields/field_value.h"

#include <cmath>

namespace ares::submit {

std::string text_of(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  const auto* number = std::get_if<double>(&value);
  if (!number) return "";
  // Scripts divide; Slurm cuts as well.
  if (std::fabs(*number) < 1e15) return std::to_string(static_cast<std::int64_t>(*number));
  return std::to_string(*number);
}

}  // namespace ares::submit
