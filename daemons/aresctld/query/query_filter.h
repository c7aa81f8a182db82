// JobFilter: selects the records of a job listing. Created once for a query.
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "model/engine/state.h"
#include "proto/gen/api.pb.h"

namespace ares::aresctld {

// A list of texts, one of which must match; an empty list matches everything.
class AnyOf {
 public:
  template <class Field>
  explicit AnyOf(const Field& field) : words_(field.begin(), field.end()) {}
  bool empty() const { return words_.empty(); }
  bool has(const std::string& word) const { return words_.contains(word); }
  bool passes(const std::string& word) const { return empty() || has(word); }
  const std::set<std::string, std::less<>>& words() const { return words_; }

 private:
  std::set<std::string, std::less<>> words_;
};

// Users by name or number.
class Users {
 public:
  template <class Field>
  explicit Users(const Field& field) : names_(field) {
    add_numbers();
  }
  bool empty() const { return names_.empty(); }
  bool has(const JobSpec& spec) const {
    return uids_.contains(spec.uid.value()) || names_.has(spec.user);
  }

 private:
  void add_numbers();

  AnyOf names_;
  std::set<std::uint32_t> uids_;
};

class JobFilter {
 public:
  // invalid_argument: an unknown state. not_found: an unknown node.
  static Result<JobFilter> make(const ClusterState& state, const api::ListJobs& request, Time now);

  bool passes(const Job& job) const;

 private:
  explicit JobFilter(const api::ListJobs& from);

  bool passes_state(const Job& job) const;
  bool passes_partition(const Job& job) const;
  bool passes_nodes(const Job& job) const;
  bool passes_licenses(const Job& job) const;
  bool passes_run_time(const Job& job) const;

  std::uint32_t states_ = 0;  // one bit for each JobState; 0 = all, unless special_exit_
  bool special_exit_ = false;
  Users users_, not_users_;
  AnyOf partitions_, names_, accounts_, qos_, wckeys_, licenses_, reservations_;
  std::set<NodeId> nodes_;
  std::optional<Seconds> over_, under_;
  Time now_{};
};

}  // namespace ares::aresctld
