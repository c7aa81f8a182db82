#include "config/backfill_type.h"

#include <charconv>

#include "base/printable.h"

namespace ares::config {
namespace {

// More reservations cost more than they gain; use "conservative" to plan all jobs.
constexpr std::uint32_t kMostReservations = 1'000;

struct Word {
  const char* word;
  BackfillKind kind;
};
constexpr Word kWords[] = {{"none", BackfillKind::none},
                           {"easy", BackfillKind::easy},
                           {"conservative", BackfillKind::conservative}};

Result<Backfill> parse(const Value& value) {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, quote(value.text) + " " + why);
  };
  const std::size_t colon = std::min(value.text.find(':'), value.text.size());
  for (const Word& word : kWords) {
    if (value.kind != Value::Kind::scalar || value.text.substr(0, colon) != word.word) continue;
    Backfill rule{word.kind, 1};
    if (colon == value.text.size()) return rule;
    if (word.kind != BackfillKind::easy)
      return bad("has a number behind it, which only easy may have, as in easy:4");
    const char* end = value.text.data() + value.text.size();
    const auto [rest, error] =
        std::from_chars(value.text.data() + colon + 1, end, rule.reservations);
    if (error != std::errc{} || rest != end || rule.reservations == 0 ||
        rule.reservations > kMostReservations)
      return bad("does not end in a number from 1 to " + std::to_string(kMostReservations));
    return rule;
  }
  return bad("is none of none, easy, easy:COUNT and conservative");
}

std::string print(const Backfill& rule) {
  for (const Word& word : kWords)
    if (word.kind == rule.kind)
      return word.word +
             (rule.reservations > 1 ? ":" + std::to_string(rule.reservations) : std::string());
  return "";
}

}  // namespace

Type<Backfill> backfill_type() {
  return {"none | easy | easy:COUNT | conservative", parse, print};
}

Type<std::map<std::string, Backfill>> backfill_map_type() {
  return {"{PARTITION: RULE, ...}",
          [](const Value& value) -> Result<std::map<std::string, Backfill>> {
            std::map<std::string, Backfill> rules;
            if (value.kind == Value::Kind::null) return rules;
            if (value.kind != Value::Kind::map)
              return fail(ErrorCode::invalid_argument, "expected {PARTITION: RULE, ...}");
            for (const Entry& entry : value.entries) {
              const Result<Backfill> rule = parse(entry.value);
              if (!rule)
                return fail(ErrorCode::invalid_argument,
                            excerpt(entry.key) + ": " + rule.error().message);
              rules.emplace(entry.key, *rule);
            }
            return rules;
          },
          [](const std::map<std::string, Backfill>& rules) -> std::string {
            std::string out;
            for (const auto& [partition, rule] : rules)
              out += (out.empty() ? "" : ", ") + partition + ": " + quote_yaml(print(rule));
            return rules.empty() ? "" : "{" + out + "}";
          }};
}

}  // namespace ares::config
