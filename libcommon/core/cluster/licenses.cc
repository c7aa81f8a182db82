#include "core/cluster/licenses.h"

#include <algorithm>

#include "base/printable.h"

namespace ares::core {

std::uint32_t LicensePool::total(const std::string& name) const {
  const auto found = policy_.licenses.find(name);
  return found == policy_.licenses.end() ? 0 : found->second;
}

std::uint32_t LicensePool::free(const std::string& name) const {
  const std::uint32_t* used = state_.licenses_used.find(name);
  const auto allocated = allocated_.find(name);
  const std::uint64_t gone =
      std::uint64_t{used ? *used : 0} + (allocated == allocated_.end() ? 0 : allocated->second);
  const std::uint32_t all = total(name);  // can be below what is used, after a reconfiguration
  return gone >= all ? 0 : all - static_cast<std::uint32_t>(gone);
}

std::optional<std::vector<LicenseRequest>> LicensePool::choose(const JobSpec& spec) const {
  const auto is_free = [&](const LicenseRequest& r) { return free(r.name) >= r.count; };
  if (spec.any_license) {
    const auto first = std::find_if(spec.licenses.begin(), spec.licenses.end(), is_free);
    if (first == spec.licenses.end()) return std::nullopt;
    return std::vector{*first};
  }
  if (!std::all_of(spec.licenses.begin(), spec.licenses.end(), is_free)) return std::nullopt;
  return spec.licenses;
}

bool LicensePool::allocate(const JobSpec& spec, const std::vector<LicenseRequest>& licenses) {
  const bool requested =
      spec.any_license
          ? licenses.size() == 1 && std::find(spec.licenses.begin(), spec.licenses.end(),
                                              licenses[0]) != spec.licenses.end()
          : licenses == spec.licenses;
  if (!requested) return false;
  for (const LicenseRequest& r : licenses)
    if (free(r.name) < r.count) return false;
  for (const LicenseRequest& r : licenses) allocated_[r.name] += r.count;
  return true;
}

void LicensePool::release(const std::vector<LicenseRequest>& licenses) {
  for (const LicenseRequest& r : licenses) allocated_[r.name] -= r.count;
}

std::string LicensePool::explain(const JobSpec& spec) const {
  std::string text;
  for (const LicenseRequest& r : spec.licenses) {
    if (free(r.name) >= r.count) continue;
    text += text.empty() ? "needs " : spec.any_license ? ", or " : ", and ";
    text += std::to_string(r.count) + " " + r.name + ": " + std::to_string(free(r.name)) + " of " +
            std::to_string(total(r.name)) + " free";
  }
  return text;
}

Status check_licenses(const Policy& policy, const JobSpec& spec) {
  const auto bad = [](const std::string& why) -> Status {
    return fail(ErrorCode::invalid_argument, "Invalid license specification: " + why);
  };
  if (spec.licenses.empty()) return spec.any_license ? bad("one of none is asked for") : Status{};
  for (std::size_t i = 0; i < spec.licenses.size(); ++i) {
    const LicenseRequest& r = spec.licenses[i];
    const auto found = policy.licenses.find(r.name);
    if (found == policy.licenses.end())
      return bad("this cluster has no licences called " + quote(r.name));
    if (r.count == 0) return bad("0 of " + quote(r.name) + " are none");
    if (r.count > found->second)
      return bad(std::to_string(r.count) + " of " + quote(r.name) + " asked for, the cluster has " +
                 std::to_string(found->second));
    for (std::size_t j = 0; j < i; ++j)
      if (spec.licenses[j].name == r.name) return bad(quote(r.name) + " is named twice");
  }
  return {};
}

}  // namespace ares::core
