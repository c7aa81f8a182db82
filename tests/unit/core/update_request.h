// Requests to update jobs, for tests. Any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/core/engine_fixture.h"

namespace ares::core {

using Change = std::function<void(JobSpec&)>;

inline UpdateJob set(JobKey key, std::vector<std::string> fields, const Change& change) {
  JobSpec values;
  change(values);
  UpdateJob update;
  update.jobs = Cluster::named(key);
  update.fields = std::move(fields);
  update.values = std::make_shared<const JobSpec>(std::move(values));
  return update;
}

inline UpdateJob depend(JobKey key, std::vector<Dependency> on) {
  return set(key, {"dependencies"}, [&](JobSpec& s) { s.dependencies = std::move(on); });
}

}  // namespace ares::core
