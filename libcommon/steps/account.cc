#include "steps/account.h"

#include "node/text_fields.h"

namespace ares::steps {

std::string encode(const StepCancel& cancel) {
  return node::FieldWriter()
      .put("step", cancel.step)
      .put("signal", cancel.signal)
      .put("by", cancel.by)
      .take();
}

Result<StepCancel> decode_cancel(std::string_view text) {
  node::FieldReader in("cancellation of a step", text);
  StepCancel cancel;
  cancel.step = in.number<std::uint32_t>("step");
  cancel.signal = in.number<std::int32_t>("signal");
  cancel.by = in.id<UserId>("by");
  constexpr std::int32_t kHighest = 64;
  if (cancel.signal < 0 || cancel.signal > kHighest) in.wrong("signal", "is out of range");
  if (Status status = in.status(); !status) return fail(status.error());
  return cancel;
}

}  // namespace ares::steps
