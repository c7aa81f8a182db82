// The section `accounting`: which rules of accounts, QOS and limits are enforced.
#include <algorithm>

#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

Type<Enforce> enforce_type() {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(kLastEnforce); ++i)
    words.emplace_back(to_string(static_cast<Enforce>(i)));
  const auto choice = choice_type(words);
  return {
      choice.name,
      [words, choice](const Value& value) -> Result<Enforce> {
        return choice.parse(value).map([&](const std::string& word) {
          return static_cast<Enforce>(std::find(words.begin(), words.end(), word) - words.begin());
        });
      },
      [](const Enforce& enforce) { return std::string(to_string(enforce)); }};
}

}  // namespace

std::vector<Field<AccountingPolicy>> accounting_fields() {
  return {
      field<AccountingPolicy>(
          "enforce", &AccountingPolicy::enforce, enforce_type(),
          "Which records of aacctmgr are enforced for jobs. none: none; every user that can reach "
          "the controller runs jobs on any account. associations: only users of an account run "
          "jobs on it, with a QOS that they may use. limits: and a job that is over a limit of its "
          "QOS, its user or an account above it waits, and says over which; one that would be more "
          "than may be submitted, or that is over a limit by itself under the QOS flag "
          "DenyOnLimit, is refused. safe: and under a limit on TRES-minutes (GrpTRESMins, GrpWall) "
          "only jobs start that it lets run until their time limits."),
      field<AccountingPolicy>(
          "require_wckey", &AccountingPolicy::require_wckey, boolean_type(),
          "Whether each job must have one of its user's wckeys: the one it names with --wckey, or "
          "the user's default. Otherwise it may name any, or none.")};
}

}  // namespace ares::config
