#include "cli/values/binding_values.h"

#include "base/printable.h"
#include "cli/output/text.h"
#include "model/job/binding_options.h"

namespace ares::cli {
namespace {

template <class Read>
Status keep(Result<Read> (*read)(std::string_view), const std::string& text, api::Binding* binding,
            void (api::Binding::*set)(const std::string&)) {
  const std::string lowered = lower(text);
  if (lowered.empty()) return fail(ErrorCode::invalid_argument, "needs a value");
  const Result<Read> value = read(lowered);
  if (!value) return fail(value.error());
  (binding->*set)(lowered);
  return {};
}

}  // namespace

Status set_hint(api::JobSpec& spec, const std::string& text) {
  return keep(parse_hint, text, spec.mutable_binding(),
              &api::Binding::set_hint<const std::string&>);
}

Status set_threads_per_core(api::JobSpec& spec, const std::string& text) {
  const auto count = parse_number(text, kMaxThreadsPerCore);
  if (!count || *count == 0)
    return fail(ErrorCode::invalid_argument, quote(text) +
                                                 " is not a number of hardware threads from 1 to " +
                                                 std::to_string(kMaxThreadsPerCore));
  spec.mutable_binding()->set_threads_per_core(static_cast<std::uint32_t>(*count));
  return {};
}

Status set_cpu_bind(api::JobSpec& spec, const std::string& text) {
  return keep(parse_cpu_bind, text, spec.mutable_binding(),
              &api::Binding::set_cpu_bind<const std::string&>);
}

Status set_mem_bind(api::JobSpec& spec, const std::string& text) {
  return keep(parse_mem_bind, text, spec.mutable_binding(),
              &api::Binding::set_mem_bind<const std::string&>);
}

Status set_gpu_bind(api::JobSpec& spec, const std::string& text) {
  return keep(parse_gpu_bind, text, spec.mutable_binding(),
              &api::Binding::set_gpu_bind<const std::string&>);
}

Status set_distribution(api::JobSpec& spec, const std::string& text) {
  return keep(parse_distribution, text, spec.mutable_binding(),
              &api::Binding::set_distribution<const std::string&>);
}

}  // namespace ares::cli
