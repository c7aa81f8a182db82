// Applies one command to many jobs. Each job is checked by itself; one message has all problems.
// Internal to core/job; pure, engine thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/job/decide/decision_context.h"
#include "model/policy/request_limits.h"

namespace ares::core {

class BulkAction {
 public:
  // Whether a filter that selects nothing is an error: not where the action is to leave nothing.
  enum class Unmatched : std::uint8_t { error, ignored };

  // `verb` as in "may not cancel job 12".
  BulkAction(const DecisionContext& q, const Principal& who, std::string_view verb,
             Unmatched unmatched = Unmatched::error)
      : q_(q), who_(who), verb_(verb), unmatched_(unmatched) {}

  // Calls act(*this, target) for each selected job the caller may act on.
  template <class Act>
  Decision each(const JobSelector& selector, Act&& act) {
    if (selector.keys.empty() && selector.own_ids.empty() && !selector.everything) {
      return refuse(ErrorCode::invalid_argument, "no jobs given: name job ids or a filter");
    }
    if (selector.user && selector.everything && *selector.user != who_.uid &&
        !is_operator(q_.policy, who_.uid)) {
      return refuse(ErrorCode::permission_denied,
                    "user " + who_.user + " may not " + std::string(verb_) + " jobs of uid " +
                        std::to_string(selector.user->value()) +
                        ": only operators and administrators may act on other users' jobs");
    }
    const Selected selected = select(q_, who_, selector);
    if (const Status ok = check_gaps(q_, who_, selected); !ok)
      return refuse(ok.error().code, ok.error().message);
    for (const std::string& missing : selected.missing) add_problem(ErrorCode::not_found, missing);
    filtered_ = selector.everything;
    if (filtered_ && selected.targets.empty() && unmatched_ == Unmatched::error)
      add_problem(ErrorCode::not_found, nothing_matches(q_, who_, selector));
    for (const Target& target : selected.targets) {
      if (may_act_on(q_.policy, who_.uid, *target.record)) {
        act(*this, target);
        if (followups_ > kMaxSubmitEvents)
          return refuse(ErrorCode::invalid_argument,
                        "too many dependencies in one request that are met or failed already; at "
                        "most " +
                            std::to_string(kMaxSubmitEvents) +
                            " of them in all jobs: name fewer jobs at once");
      } else {
        add_problem(ErrorCode::permission_denied,
                    "user " + who_.user + " may not " + std::string(verb_) + " job " +
                        job_text(target.key) + " of " + target.record->spec->user +
                        ": only its owner, operators and administrators may");
      }
    }
    return finish();
  }

  // Adds the event for the target. A waiting array task first gets a record by a TaskSplit.
  void add_event(const Target& target, EventBody body) {
    if (target.in_array) decision_.events.emplace_back(split(target));
    decision_.events.push_back(std::move(body));
    mark_done(target);
  }
  // Adds another event for the target of the last add_event().
  void add_second_event(EventBody body) { decision_.events.push_back(std::move(body)); }
  // The same for one that its dependencies cause; their number is bounded.
  void add_followup(EventBody body) {
    decision_.events.push_back(std::move(body));
    ++followups_;
  }
  // Lists the job in the reply. Called alone for a job that already is as requested.
  void mark_done(const Target& target) {
    if (decision_.jobs.empty() || decision_.jobs.back() != target.key)
      decision_.jobs.push_back(target.key);
  }
  // Reports why the action is impossible, but only for a job that the caller named, or if no job of a
  // filter is left.
  void refuse_target(const Target& target, std::string_view why) {
    if (!target.named && !skipped_.empty()) return;
    std::string text = "job " + job_text(target.key) + ": " + std::string(why);
    if (target.named)
      add_problem(ErrorCode::failed_precondition, std::move(text));
    else
      skipped_ = std::move(text);
  }
  // permission_denied replaces other codes, because callers may ignore not_found.
  void add_problem(ErrorCode code, std::string text) {
    if (problems_++ == 0 || code == ErrorCode::permission_denied) decision_.error.code = code;
    constexpr std::size_t kMaxShown = 20;
    if (problems_ > kMaxShown) return;
    if (!decision_.error.message.empty()) decision_.error.message += "; ";
    decision_.error.message += text;
  }

  const DecisionContext& context() const { return q_; }
  const Principal& who() const { return who_; }

 private:
  Decision finish() {
    if (filtered_ && unmatched_ == Unmatched::error && problems_ == 0 && decision_.jobs.empty() &&
        !skipped_.empty())
      add_problem(ErrorCode::failed_precondition, skipped_);
    decision_.failed = problems_ > 0;
    if (decision_.failed && !decision_.jobs.empty()) {
      decision_.error.message += " (done for " + std::to_string(decision_.jobs.size()) +
                                 " other job" + (decision_.jobs.size() == 1 ? ")" : "s)");
    }
    return std::move(decision_);
  }

  const DecisionContext& q_;
  const Principal& who_;
  std::string_view verb_;
  Unmatched unmatched_;
  bool filtered_ = false;
  std::string skipped_;  // why the first job of a filter was left out
  Decision decision_;
  std::size_t problems_ = 0;
  std::size_t followups_ = 0;
};

}  // namespace ares::core
