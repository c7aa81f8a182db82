#include "unit/aacctmgr/site.h"

#include <algorithm>

#include "core/accounts/limits/job_limits.h"

namespace ares::aacctmgr {
namespace {

const std::vector<std::string> kTexts = {"",    "a: b # c", "quote \" and ' and \\",
                                         "- x", "~",        "null",
                                         "007", " blank ",  "grün",
                                         "{}",  "[a, b]",   "a,b",
                                         "%x",  "no"};

Limits random_limits(Random& random, bool qos) {
  Limits limits;
  for (const LimitRow& row : limit_table()) {
    if (!(qos ? row.qos : row.association) || !random.percent(30)) continue;
    // Sparse powers, so that small, zero and huge amounts all occur.
    const auto amount = [&] { return random.below(3) << random.below(45); };
    if (row.unit != LimitUnit::tres && row.unit != LimitUnit::tres_minutes) {
      limits.push_back({row.kind, {}, amount()});
      continue;
    }
    for (const char* tres : {"cpu", "gres/gpu", "gres/gpu:a100", "license/matlab", "mem"})
      if (random.percent(40)) limits.push_back({row.kind, tres, amount()});
  }
  std::sort(limits.begin(), limits.end());
  return limits;
}

class Site {
 public:
  explicit Site(Random& random) : random_(random) {}

  Records run() {
    add_roots(records_);
    const std::uint64_t qos_count = random_.below(4), user_count = random_.below(8);
    for (std::uint64_t i = 0; i < qos_count; ++i) one_qos("q" + std::to_string(random_.below(6)));
    for (std::uint64_t i = 0; i < user_count; ++i)
      put(records_, user("u" + std::to_string(random_.below(12)), ""));
    each_of<User>(records_, RecordKind::user, [&](const User& one) { users_.push_back(one.name); });
    accounts_ = {"root"};
    for (std::uint64_t i = random_.below(9); i > 0; --i) one_account();
    for (const std::string& name : users_) memberships(name);
    return std::move(records_);
  }

 private:
  std::string text() { return kTexts[random_.below(kTexts.size())]; }

  void one_qos(const std::string& name) {
    Qos made = qos(name);
    made.description = text();
    made.priority = random_.upto(3);
    made.flags = random_.upto(1) * 8 + random_.upto(1);  // existing flags only
    made.usage_factor = random_.percent(50) ? 1000 : random_.upto(5000);
    made.limit_factor = random_.percent(50) ? 1000 : 1 + random_.upto(5000);
    made.usage_threshold = random_.percent(50) ? 0 : random_.upto(1000);
    if (random_.percent(30)) made.preempt_mode = static_cast<PreemptMode>(random_.upto(3));
    if (random_.percent(30)) made.preempt_exempt = Seconds{random_.upto(200'000)};
    if (random_.percent(30)) made.grace = Seconds{random_.upto(200'000)};
    each_of<Qos>(records_, RecordKind::qos, [&](const Qos& other) {
      if (other.name < name && other.preempts.empty() && random_.percent(30))
        made.preempts.push_back(other.name);
    });
    made.limits = random_limits(random_, true);
    put(records_, made);
  }

  Terms terms(std::string_view above) {
    Terms made;
    if (random_.percent(20)) made.shares.reset();
    if (random_.percent(40)) made.shares = random_.upto(100);
    made.priority = random_.upto(2);
    made.limits = random_limits(random_, false);
    each_of<Qos>(records_, RecordKind::qos, [&](const Qos& one) {
      if (random_.percent(30)) made.qos.push_back(one.name);
    });
    std::vector<std::string> allowed = made.qos;
    if (allowed.empty()) allowed = core::allowed_qos(core::chain_of(records_, above, {}, {}));
    if (random_.percent(40)) made.default_qos = allowed[random_.below(allowed.size())];
    return made;
  }

  void one_account() {
    const std::string name = "a" + std::to_string(random_.below(14));
    if (core::find_account(records_, name)) return;
    Account made = account(name, accounts_[random_.below(accounts_.size())]);
    made.description = text();
    made.organization = text();
    for (const std::string& one : users_)
      if (random_.percent(20)) made.coordinators.push_back(one);
    made.terms = terms(made.parent);
    put(records_, made);
    accounts_.push_back(name);
  }

  void memberships(const std::string& name) {
    std::vector<std::string> own;
    for (std::uint64_t i = random_.below(4); i > 0; --i) {
      Association made = member(name, accounts_[random_.below(accounts_.size())],
                                random_.percent(70) ? "" : "p" + std::to_string(random_.below(2)));
      made.terms = terms(made.key.account);
      own.push_back(made.key.account);
      put(records_, made);
    }
    User made = user(name, own.empty() || random_.percent(10) ? "" : own.front());
    if (random_.percent(30)) {
      put(records_, Wckey{{"w" + std::to_string(random_.below(3)), name}, {}, {}});
      made.default_wckey = records_.last_below({RecordKind::wckey, "w9", {}, {}})->first.name;
      if (!records_.find({RecordKind::wckey, made.default_wckey, name, {}}))
        made.default_wckey.clear();
    }
    put(records_, made);
  }

  Random& random_;
  Records records_;
  std::vector<std::string> users_, accounts_;
};

}  // namespace

Records random_tree(Random& random) {
  return Site(random).run();
}

}  // namespace ares::aacctmgr
