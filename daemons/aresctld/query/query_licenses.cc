#include "aresctld/query/queries.h"
#include "base/printable.h"

namespace ares::aresctld {
namespace {

void describe(const View& view, const std::string& name, std::uint32_t total,
              api::Licenses::License& out) {
  const std::uint32_t* used = view.state->licenses_used.find(name);
  out.set_name(name);
  out.set_total(total);
  out.set_used(used ? *used : 0);
}

}  // namespace

Result<api::Licenses> list_licenses(const View& view, const Policy& policy,
                                    const api::ListLicenses& filter) {
  api::Licenses out;
  if (filter.names().empty())
    for (const auto& [name, total] : policy.licenses)
      describe(view, name, total, *out.add_licenses());
  for (const std::string& name : filter.names()) {
    const auto found = policy.licenses.find(name);
    if (found == policy.licenses.end())
      return fail(ErrorCode::not_found, "this cluster has no licences called " + quote(name));
    describe(view, name, found->second, *out.add_licenses());
  }
  return out;
}

}  // namespace ares::aresctld
