// Values of fields as scripts see them, and what stands for none. Pure; any thread.
#pragma once

#include <string>

#include "submit/message/hook_message.h"

namespace ares::submit {

// What a number has that is not set: Slurm's NO_VAL of the field's size.
inline constexpr double kNoVal16 = 65534;
inline constexpr double kNoVal = 4294967294.0;
inline constexpr double kNoVal64 = 18446744073709551614.0;
inline constexpr double kInfinite = 4294967295.0;

inline constexpr double kMinute = 60;  // seconds

// As an option of asub would have it: a number without a fraction that is not there; nothing is "".
std::string text_of(const FieldValue& value);

// Nothing: set_field() makes that of NO_VAL as well.
inline bool is_unset(const FieldValue& value) {
  return std::holds_alternative<std::monostate>(value);
}

inline FieldValue text_or_nothing(const std::string& text) {
  return text.empty() ? FieldValue() : FieldValue(text);
}

}  // namespace ares::submit
