// LicensePool: free licenses of the site, without those held by running jobs or allocated since
// then. Owned by one pass or one decision; it reads the given state, which must outlive it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

class LicensePool {
 public:
  LicensePool(const ClusterState& state, const Policy& policy) : state_(state), policy_(policy) {}

  // What the job would get: all requested, or with any_license the first free one. None: too few.
  std::optional<std::vector<LicenseRequest>> choose(const JobSpec& spec) const;

  // Allocates the licenses if they are free and match the request; false otherwise.
  bool allocate(const JobSpec& spec, const std::vector<LicenseRequest>& licenses);
  void release(const std::vector<LicenseRequest>& licenses);

  // "needs 2 matlab: 1 of 10 free".
  std::string explain(const JobSpec& spec) const;

 private:
  std::uint32_t total(const std::string& name) const;
  std::uint32_t free(const std::string& name) const;

  const ClusterState& state_;
  const Policy& policy_;
  std::map<std::string, std::uint32_t> allocated_;
};

// Whether the request is valid and within the totals. Error: "Invalid license specification: …".
Status check_licenses(const Policy& policy, const JobSpec& spec);

}  // namespace ares::core
