// LicensePool: which of the site's licences are free, and what a job would take of them. Counts what running jobs hold, and
// what its owner has promised since. Owned by one pass or one decision; reads the state it was made from, which must outlive it.
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

  // What the job would take now: all it asks for, or the first that is free of those of which one is enough. None: too few.
  std::optional<std::vector<LicenseRequest>> choose(const JobSpec& spec) const;

  // Whether so many are free and what the job asked for; takes them then.
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

// Whether the request makes sense and the site has as many at all: "Invalid license specification: …".
Status check_licenses(const Policy& policy, const JobSpec& spec);

}  // namespace ares::core
