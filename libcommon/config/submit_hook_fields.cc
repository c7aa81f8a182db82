// The section `submit_hook`.
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

// A parser of `type` whose values lie within these bounds; `bounds` names them.
template <class T>
Type<T> between(const Type<T>& type, T least, T most, std::string bounds) {
  return {type.name,
          [type, least, most, bounds = std::move(bounds)](const Value& value) -> Result<T> {
            auto parsed = type.parse(value);
            if (parsed && (*parsed < least || *parsed > most))
              return fail(ErrorCode::invalid_argument, "not from " + bounds);
            return parsed;
          },
          type.print};
}

}  // namespace

std::vector<Field<SubmitHookConfig>> submit_hook_fields() {
  using S = SubmitHookConfig;
  using std::chrono::milliseconds;
  return {
      field<S>("file", &S::file, file_type(),
               "The script. It and its folder belong to root or to the controller's user, and only "
               "the owner may write to them. A changed script counts at once. Empty: none."),
      field<S>(
          "time_limit", &S::time_limit,
          between(milliseconds_type(), milliseconds(10), milliseconds(60'000), "10 ms to 60 s"),
          "How long one call may take. A job whose call takes longer is refused."),
      field<S>("memory_limit", &S::memory_limit,
               between(memory_type(), Bytes::mib(1), Bytes::mib(4096), "1M to 4G"),
               "How much memory the script may have. A job whose call needs more is refused."),
  };
}

}  // namespace ares::config
