// The section `fairness`: queue policies, weights and the tree of accounts.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

// A word from a table.
template <class E, std::size_t N>
Type<E> word_type(const std::array<std::string_view, N>& words) {
  const std::vector<std::string> all(words.begin(), words.end());
  const auto choice = choice_type(all);
  return {choice.name,
          [choice, all](const Value& value) -> Result<E> {
            return choice.parse(value).map([&](const std::string& word) {
              return static_cast<E>(std::find(all.begin(), all.end(), word) - all.begin());
            });
          },
          [all](const E& e) { return all[static_cast<std::size_t>(e)]; }};
}

// `check` returns what is wrong with a name, if anything.
using CheckName = std::function<Status(const std::string&)>;
// Reads {NAME: VALUE, ...} into a map.
template <class T>
CheckResult read_map(std::map<std::string, T>& out, const Value& value, const Type<T>& type,
                     const CheckName& check) {
  out.clear();
  if (value.kind == Value::Kind::null) return {};
  if (value.kind != Value::Kind::map)
    return problem(value.line, "expected {NAME: " + type.name + ", ...}");
  for (const Entry& entry : value.entries) {
    if (Status good = check(entry.key); !good) return problem(entry.line, good.error().message);
    auto parsed = type.parse(entry.value);
    if (!parsed) return problem(entry.line, excerpt(entry.key) + ": " + parsed.error().message);
    out[entry.key] = std::move(*parsed);
  }
  return {};
}

template <class T>
std::string print_map(const std::map<std::string, T>& map, const Type<T>& type) {
  std::string out;
  for (const auto& [key, item] : map)
    out += (out.empty() ? "" : ", ") + quote_yaml(key) + ": " + type.print(item);
  return "{" + out + "}";
}

template <class T>
Field<Fairness> map_of(std::string name, std::map<std::string, T> Fairness::*member,
                       const Type<T>& type, const CheckName& check, std::string help) {
  Field<Fairness> row;
  row.name = std::move(name);
  row.type = "{NAME: " + type.name + ", ...}";
  row.help = std::move(help);
  row.read = [=](Fairness& fairness, const Value& value) {
    return read_map(fairness.*member, value, type, check);
  };
  row.print = [=](const Fairness& fairness) { return print_map(fairness.*member, type); };
  return row;
}

Status any_name(const std::string& name) {
  const auto parsed = name_type().parse({Value::Kind::scalar, 0, name, {}, {}});
  return parsed ? Status() : fail(parsed.error());
}

Status tres_name(const std::string& name, bool with_billing) {
  const std::vector<std::string> known{"cpu", "mem", "node", "gres/gpu", "billing"};
  for (const std::string& word : known)
    if (name == word && (with_billing || word != "billing")) return {};
  if (name.starts_with("gres/gpu:") && name.size() > 9) return {};
  return fail(ErrorCode::invalid_argument,
              quote(name) +
                  " is no resource here; known are cpu, mem, node, gres/gpu and gres/gpu:TYPE" +
                  (with_billing ? ", and billing" : "") + suggestion(name, known));
}
Status weighed_tres(const std::string& name) {
  return tres_name(name, false);
}

constexpr double kWeightUnit = 1 << kTresWeightBits;

// A decimal with an optional suffix per unit of memory: 0.25G is 0.25 per GiB; mem counts in MiB.
Type<std::uint64_t> tres_weight_type() {
  return {"weight",
          [](const Value& value) -> Result<std::uint64_t> {
            const std::string& text = value.text;
            double parsed = -1;
            const char* end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, parsed);
            double per = 1;
            if (rest + 1 == end) {
              const std::string_view units = "KMGT";
              const auto at = units.find(*rest);
              per = at == std::string_view::npos ? 0 : std::ldexp(1024, -10 * static_cast<int>(at));
            }
            if (value.kind != Value::Kind::scalar || error != std::errc{} ||
                (rest != end && (rest + 1 != end || per == 0)) || !(parsed >= 0) ||
                parsed * per > 1e9)
              return fail(ErrorCode::invalid_argument,
                          quote(text) +
                              " is not a weight; write a number up to 1000000000, for mem also "
                              "as in 0.25G, for each GiB");
            return static_cast<std::uint64_t>(std::llround(parsed * per * kWeightUnit));
          },
          [](const std::uint64_t& weight) {
            char buffer[32];
            const auto end = std::to_chars(buffer, buffer + sizeof buffer,
                                           static_cast<double>(weight) / kWeightUnit);
            return std::string(buffer, end.ptr);
          }};
}

Type<std::uint64_t> amount_type() {
  return {"TRES-seconds",
          [](const Value& value) -> Result<std::uint64_t> {
            std::uint64_t parsed = 0;
            const char* end = value.text.data() + value.text.size();
            const auto [rest, error] = std::from_chars(value.text.data(), end, parsed);
            // Leaves room for sums.
            constexpr std::uint64_t kMost = 1'000'000'000'000'000;
            if (value.kind != Value::Kind::scalar || error != std::errc{} || rest != end ||
                parsed > kMost)
              return fail(
                  ErrorCode::invalid_argument,
                  quote(value.text) + " is not a whole number from 0 to " + std::to_string(kMost));
            return parsed;
          },
          [](const std::uint64_t& amount) { return std::to_string(amount); }};
}

Type<std::optional<std::uint32_t>> shares_type() {
  using Shares = std::optional<std::uint32_t>;
  const auto count = count_type();
  return {"count | parent",
          [count](const Value& value) -> Result<Shares> {
            if (value.kind == Value::Kind::scalar && value.text == "parent") return Shares{};
            return count.parse(value).map([](std::uint32_t shares) { return Shares{shares}; });
          },
          [](const Shares& shares) { return shares ? std::to_string(*shares) : "parent"; }};
}

// A text that is not printed if it is empty.
Type<std::string> optional_text() {
  const auto text = text_type();
  return {text.name, text.parse, [print = text.print](const std::string& value) {
            return value.empty() ? std::string() : print(value);
          }};
}

Type<TresSeconds> usage_type() {
  const auto amount = amount_type();
  return {"{TRES: TRES-seconds, ...}",
          [amount](const Value& value) -> Result<TresSeconds> {
            TresSeconds usage;
            if (value.kind == Value::Kind::null) return usage;
            if (value.kind != Value::Kind::map)
              return fail(ErrorCode::invalid_argument,
                          "expected resources with their use, such as {cpu: 3600}");
            for (const Entry& entry : value.entries) {
              if (Status good = tres_name(entry.key, true); !good) return fail(good.error());
              const auto parsed = amount.parse(entry.value);
              if (!parsed)
                return fail(parsed.error().code,
                            excerpt(entry.key) + ": " + parsed.error().message);
              usage[entry.key] = *parsed;
            }
            return usage;
          },
          [amount](const TresSeconds& usage) {
            std::string out;
            for (const auto& [name, used] : usage)
              out += (out.empty() ? "" : ", ") + quote_yaml(name) + ": " + amount.print(used);
            return out.empty() ? out : "{" + out + "}";
          }};
}

Type<Seconds> usage_time_type() {
  const auto amount = amount_type();
  return {"seconds since 1970, UTC",
          [amount](const Value& value) -> Result<Seconds> {
            return amount.parse(value).map(
                [](std::uint64_t s) { return Seconds(std::min<std::uint64_t>(s, 1ULL << 40)); });
          },
          [](const Seconds& s) { return std::to_string(s.count()); }};
}

struct FlagRow {
  const char* word;
  bool PriorityFlags::*member;
};
constexpr FlagRow kFlags[] = {
    {"favor_small", &PriorityFlags::favor_small},
    {"small_relative_to_time", &PriorityFlags::small_relative_to_time},
    {"accrue_always", &PriorityFlags::accrue_always},
    {"no_fair_tree", &PriorityFlags::no_fair_tree},
    {"no_normal_association", &PriorityFlags::no_normal_association},
    {"no_normal_partition", &PriorityFlags::no_normal_partition},
    {"no_normal_qos", &PriorityFlags::no_normal_qos},
    {"no_normal_tres", &PriorityFlags::no_normal_tres},
};

Type<PriorityFlags> flags_type() {
  return {"list of flags",
          [](const Value& value) -> Result<PriorityFlags> {
            const auto words = text_list_type().parse(value);
            if (!words) return fail(words.error());
            std::vector<std::string> known;
            for (const FlagRow& row : kFlags) known.push_back(row.word);
            PriorityFlags flags;
            for (const std::string& word : *words) {
              const auto found = std::find(known.begin(), known.end(), word);
              if (found == known.end())
                return fail(ErrorCode::invalid_argument,
                            quote(word) + " is no flag" + suggestion(word, known));
              flags.*kFlags[found - known.begin()].member = true;
            }
            return flags;
          },
          [](const PriorityFlags& flags) {
            std::vector<std::string> words;
            for (const FlagRow& row : kFlags)
              if (flags.*row.member) words.push_back(row.word);
            return text_list_type().print(words);
          }};
}

Field<Fairness> weights_field() {
  const auto fields = weight_fields();
  Field<Fairness> row;
  row.name = "weights";
  row.type = "map";
  row.help = "Weights of the factors of multifactor; see below.";
  row.read = [fields](Fairness& fairness, const Value& value) {
    return read_map(value, fairness.weights, fields);
  };
  row.print = [fields](const Fairness& fairness) { return print_flow(fairness.weights, fields); };
  return row;
}

Field<Fairness> tree_field() {
  const auto fields = account_fields();
  Field<Fairness> row;
  row.name = "tree";
  row.type = "list";
  row.help =
      "The accounts and users that fair_tree, drf and the factors fairshare and association know, "
      "in any order; see below. "
      "A job belongs to its user in the account it names, else to the first account of its user. "
      "Users that are not in the tree come after all that are; without a tree all users are equal.";
  row.read = [fields](Fairness& fairness, const Value& list) -> CheckResult {
    fairness.tree.clear();
    if (list.kind == Value::Kind::null) return {};
    if (list.kind != Value::Kind::list)
      return problem(list.line, "expected a list; begin each item with \"- \"");
    for (const Value& item : list.items) {
      if (item.kind != Value::Kind::map)
        return problem(item.line, "expected {account: ..., user: ..., shares: ...}");
      AccountRow read;
      if (CheckResult done = read_map(item, read, fields); !done) return done;
      fairness.tree.push_back(std::move(read));
    }
    const auto wrong = problem_of(fairness.tree);
    return wrong ? problem(list.items[wrong->row].line, wrong->text) : CheckResult();
  };
  row.print = [fields](const Fairness& fairness) {
    std::string out;
    for (const AccountRow& account : fairness.tree) out += "\n    - " + print_flow(account, fields);
    return out;
  };
  return row;
}

}  // namespace

const Fairness& fairness_of(const Config& config) {
  static const Fairness defaults;
  return config.policy.fairness.value ? *config.policy.fairness.value : defaults;
}

std::vector<Field<PriorityWeights>> weight_fields() {
  using W = PriorityWeights;
  const auto weight = count_type();
  return {
      field<W>("age", &W::age, weight, "Of the time since it became eligible, up to max_age."),
      field<W>("association", &W::association, weight,
               "Of the priority of its user in the account, by the highest of any."),
      field<W>("fairshare", &W::fairshare, weight,
               "Of its user's place in the tree by Fair Tree, 1 for the first."),
      field<W>("job_size", &W::job_size, weight, "Of its part of the cluster's nodes and CPUs."),
      field<W>("partition", &W::partition, weight,
               "Of the priority of its partition, by the highest of any."),
      field<W>("qos", &W::qos, weight, "Of the priority of its QOS, by the highest of any."),
  };
}

std::vector<Field<AccountRow>> account_fields() {
  return {
      field<AccountRow>("account", &AccountRow::account, optional_text(),
                        "An account, or the one that a user belongs to. Not given: the root."),
      field<AccountRow>("parent", &AccountRow::parent, optional_text(),
                        "The account above. Not given: the root."),
      field<AccountRow>("user", &AccountRow::user, optional_text(),
                        "A user in that account. Not given: the item is the account itself."),
      field<AccountRow>("shares", &AccountRow::shares, shares_type(),
                        "Its part of what its siblings get, by theirs. parent: an account whose "
                        "children are siblings of its "
                        "brothers, a user who comes first among them."),
      field<AccountRow>("priority", &AccountRow::priority,
                        Type<std::uint32_t>{count_type().name, count_type().parse,
                                            [](const std::uint32_t& n) {
                                              return n == 0 ? std::string() : std::to_string(n);
                                            }},
                        "Of a user, for the factor association."),
      field<AccountRow>(
          "usage", &AccountRow::usage, usage_type(),
          "What a user's ended jobs used, as of usage_time: {cpu: 3600, gres/gpu:a100: 60}, mem in "
          "MiB. billing overrides what the others are billed as. Running jobs are added to it."),
  };
}

std::vector<Field<Fairness>> fairness_fields() {
  using F = Fairness;
  static constexpr std::array<std::string_view, 6> kResets{"never",   "daily",     "weekly",
                                                           "monthly", "quarterly", "yearly"};
  static constexpr std::array<std::string_view, 3> kModes{"sum", "max_tres", "max_tres_gres"};
  static constexpr std::array<std::string_view, 2> kUsages{"running", "delivered"};
  const auto queue_policy = word_type<QueuePolicy>(kQueuePolicyNames);
  return {
      field<F>(
          "policy", &F::policy, queue_policy,
          "Order of the jobs of a partition, below its tier. priority: by priority, nice and "
          "age. fifo: by age. multifactor: by a weighted sum of factors. fair_tree: by the "
          "user's place in the tree. drf: first the user with the smallest dominant share of "
          "CPUs, memory and each type of GPU. A priority that an operator set replaces "
          "that of multifactor; with fifo, fair_tree and drf the job comes before all others, and "
          "after them if the priority is 0."),
      map_of<QueuePolicy>("partitions", &F::partitions, queue_policy, any_name,
                          "Policies of single partitions. Where partitions of one tier differ, "
                          "those of a policy named "
                          "earlier above are served first."),
      field<F>("half_life", &F::half_life, duration_type(),
               "Time in which usage decays to its half. 0: it never does."),
      field<F>(
          "reset", &F::reset, word_type<UsageReset>(kResets),
          "When usage begins at nothing again, for ranks as for limits on minutes: at midnight, "
          "on Mondays, or on the first of the month, of the quarter (January, April, July, "
          "October) or of the year, by the clock of the controller's machine. What runs then "
          "is charged from then on; what was used before this was set counts until the next of "
          "these times. aacctmgr reset usage does it at any time."),
      field<F>("calc_period", &F::calc_period, duration_type(),
               "How often ages and usage are looked at again."),
      field<F>("max_age", &F::max_age, duration_type(), "Age from which on the factor age is 1."),
      weights_field(),
      map_of<std::uint32_t>("tres_weights", &F::tres_weights, count_type(), weighed_tres,
                            "Weights of what a job asks for, by what its partition has of it: cpu, "
                            "mem, node, gres/gpu, "
                            "gres/gpu:TYPE."),
      map_of<std::uint32_t>("qos", &F::qos, count_type(), any_name,
                            "Priority of each QOS, for the factor qos."),
      field<F>("flags", &F::flags, flags_type(),
               "favor_small: small jobs have the larger job_size. small_relative_to_time: job_size "
               "is what it needs for each "
               "minute of its time limit. accrue_always: age counts from submission. no_fair_tree: "
               "the factor fairshare is "
               "2^(-usage/shares), from the whole branch. no_normal_association, "
               "no_normal_partition, no_normal_qos, "
               "no_normal_tres: these are not divided by the highest."),
      field<F>("dampening", &F::dampening, count_type(1),
               "Divides the exponent of the fairshare factor with no_fair_tree."),
      field<F>("billing", &F::billing, word_type<BillingMode>(kModes),
               "What usage is billed as: the sum of all by their weights, or of cpu, mem and GPUs "
               "only the largest, or of cpu "
               "and mem."),
      map_of<std::uint64_t>(
          "billing_weights", &F::billing_weights, tres_weight_type(), weighed_tres,
          "What a second of each resource counts: {cpu: 1, mem: 0.25G, gres/gpu: 8}."),
      field<F>("drf_usage", &F::drf_usage, word_type<DrfUsage>(kUsages),
               "running: what a user's jobs hold now. delivered: what they have used, decayed."),
      field<F>(
          "usage_time", &F::usage_time, usage_time_type(),
          "When the tree's usage was as it says; it decays from then on. 0: it is as it says now."),
      tree_field(),
  };
}

Field<Partition> partition_billing_field() {
  const Type<std::uint64_t> type = tres_weight_type();
  Field<Partition> row;
  row.name = "billing_weights";
  row.type = "{NAME: " + type.name + ", ...}";
  row.help =
      "What a second of each resource counts for its jobs: {cpu: 1, mem: 0.25G, gres/gpu: 8}. When "
      "not given: fairness.billing_weights.";
  row.read = [=](Partition& partition, const Value& value) {
    return read_map(partition.billing_weights.emplace(), value, type, weighed_tres);
  };
  row.print = [=](const Partition& partition) {
    return partition.billing_weights ? print_map(*partition.billing_weights, type) : std::string();
  };
  return row;
}

}  // namespace ares::config
