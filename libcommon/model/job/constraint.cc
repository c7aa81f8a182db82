#include "model/job/constraint.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/printable.h"

namespace ares {
namespace {

using Kind = FeatureTest::Kind;

constexpr std::string_view kOperators = "&|()[]*,! \t";

// Recursive descent parser of one --constraint text. The first error ends the parse.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Result<Constraint> parse() {
    if (text_.size() > kMaxConstraintBytes)
      return bad("longer than " + std::to_string(kMaxConstraintBytes) + " bytes");
    skip_spaces();
    if (rest_.empty()) return bad("empty");
    if (Status s = top(); !s) return fail(s.error());
    if (!rest_.empty()) return unexpected();
    if (constraint_.same.size() + constraint_.counts.size() > kMaxConstraintClauses)
      return bad("more than " + std::to_string(kMaxConstraintClauses) +
                 " alternatives in [] and counts");
    return std::move(constraint_);
  }

 private:
  tl::unexpected<Error> bad(const std::string& why) const {
    return fail(ErrorCode::invalid_argument,
                "Invalid feature specification: " + quote(text_.substr(0, 100)) + ": " + why);
  }
  tl::unexpected<Error> unexpected() const {
    if (rest_.empty()) return bad("it ends too early");
    const std::string at = "at character " + std::to_string(text_.size() - rest_.size() + 1);
    if (rest_.front() == '!') return bad("\"!\" (not) is not supported, " + at);
    if (rest_.front() == ',') return bad("names are joined by & or |, not by a comma, " + at);
    return bad(quote(rest_.substr(0, 1)) + " is out of place " + at);
  }

  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (!at(c)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  bool at(char c) const { return !rest_.empty() && rest_.front() == c; }

  // The whole text: terms joined by &, or tests joined by |. [] and counts are allowed only here.
  Status top() {
    if (Status s = term(); !s) return s;
    if (at('|')) {
      if (constraint_.concerns_the_set())
        return bad("[] and counts are joined to other terms by & only");
      return rest_of_or();
    }
    while (take('&'))
      if (Status s = term(); !s) return s;
    return at('|') ? mixed() : Status{};
  }

  Status mixed() const {
    return bad("& and | side by side; say with parentheses which is meant first");
  }

  // The rest of a|b|c after the first name.
  Status rest_of_or() {
    FeatureTest any{Kind::any, {}, {std::move(constraint_.every.parts.front())}};
    while (take('|')) {
      auto part = primary(1);
      if (!part) return fail(part.error());
      any.parts.push_back(std::move(*part));
      if (at('&')) return mixed();
      if (at('*')) return bad("a count is joined to other terms by & only");
    }
    constraint_.every = FeatureTest{Kind::all, {}, {std::move(any)}};
    return {};
  }

  Status term() {
    if (at('[')) return bracket();
    auto test = primary(1);
    if (!test) return fail(test.error());
    return counted(std::move(*test));
  }

  // A test without a count applies to every node; with a count, to at least that many nodes.
  Status counted(FeatureTest test) {
    if (!take('*')) {
      constraint_.every.parts.push_back(std::move(test));
      return {};
    }
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), count);
    if (error != std::errc{} || count == 0) return bad("behind * stands how many nodes, from 1 up");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    skip_spaces();
    constraint_.counts.push_back({std::move(test), count});
    return {};
  }

  // [a|b], or [a*4&b*2], which means the same as a*4&b*2 without brackets.
  Status bracket() {
    take('[');
    auto first = primary(1);
    if (!first) return fail(first.error());
    if (at('|')) {
      if (!constraint_.same.empty()) return bad("[] with alternatives may stand once");
      constraint_.same.push_back(std::move(*first));
      while (take('|')) {
        auto next = primary(1);
        if (!next) return fail(next.error());
        if (at('*')) return bad("a count among alternatives");
        if (at('&')) return mixed();
        constraint_.same.push_back(std::move(*next));
      }
    } else {
      if (Status s = counted(std::move(*first)); !s) return s;
      while (take('&')) {
        auto next = primary(1);
        if (!next) return fail(next.error());
        if (Status s = counted(std::move(*next)); !s) return s;
      }
      if (at('|')) return mixed();
    }
    if (!take(']')) return rest_.empty() ? Status(bad("\"[\" is not closed")) : unexpected();
    return {};
  }

  Result<FeatureTest> primary(std::size_t depth) {
    if (depth > kMaxConstraintDepth)
      return bad("more than " + std::to_string(kMaxConstraintDepth) + " parentheses deep");
    if (take('(')) {
      auto inner = expression(depth + 1);
      if (!inner) return inner;
      if (!take(')')) {
        if (rest_.empty()) return bad("\"(\" is not closed");
        return unexpected();
      }
      return inner;
    }
    const std::size_t end = std::min(rest_.find_first_of(kOperators), rest_.size());
    if (end == 0) return unexpected();
    FeatureTest test{Kind::name, std::string(rest_.substr(0, end)), {}};
    rest_.remove_prefix(end);
    skip_spaces();
    return test;
  }

  // Inside parentheses: names and groups joined by one kind of operator.
  Result<FeatureTest> expression(std::size_t depth) {
    auto first = primary(depth);
    if (!first || (!at('&') && !at('|'))) return first;
    const char joined = rest_.front();
    FeatureTest test{joined == '&' ? Kind::all : Kind::any, {}, {}};
    test.parts.push_back(std::move(*first));
    while (take(joined)) {
      auto next = primary(depth);
      if (!next) return next;
      test.parts.push_back(std::move(*next));
    }
    if (at('&') || at('|')) return fail(mixed().error());
    return test;
  }

  std::string_view text_, rest_;
  Constraint constraint_;
};

std::string joined(const std::vector<FeatureTest>& parts, char with) {
  std::string out;
  for (const FeatureTest& part : parts) {
    if (!out.empty()) out += with;
    out += part.parts.size() > 1 ? "(" + part.text() + ")" : part.text();
  }
  return out;
}

}  // namespace

bool FeatureTest::holds(std::span<const std::string> features) const {
  const auto part_holds = [&](const FeatureTest& part) { return part.holds(features); };
  switch (kind) {
    case Kind::name: return std::find(features.begin(), features.end(), name) != features.end();
    case Kind::all: return std::all_of(parts.begin(), parts.end(), part_holds);
    case Kind::any: return std::any_of(parts.begin(), parts.end(), part_holds);
  }
  return false;
}

std::string FeatureTest::text() const {
  switch (kind) {
    case Kind::name: return name;
    case Kind::all: return joined(parts, '&');
    case Kind::any: return joined(parts, '|');
  }
  return {};
}

std::uint64_t Constraint::counted_nodes() const {
  std::uint64_t sum = 0;
  for (const FeatureCount& count : counts) sum += count.nodes;
  return sum;
}

Result<Constraint> parse_constraint(std::string_view text) {
  return Parser(text).parse();
}

Result<Constraint> parse_constraints(std::span<const std::string> texts) {
  Constraint whole;
  for (const std::string& text : texts) {
    auto one = parse_constraint(text);
    if (!one) return one;
    for (FeatureTest& test : one->every.parts) whole.every.parts.push_back(std::move(test));
    if (!one->same.empty() && !whole.same.empty())
      return fail(ErrorCode::invalid_argument,
                  "Invalid feature specification: [] with alternatives may stand once");
    if (!one->same.empty()) whole.same = std::move(one->same);
    for (FeatureCount& count : one->counts) whole.counts.push_back(std::move(count));
  }
  if (whole.same.size() + whole.counts.size() > kMaxConstraintClauses)
    return fail(ErrorCode::invalid_argument, "Invalid feature specification: more than " +
                                                 std::to_string(kMaxConstraintClauses) +
                                                 " alternatives in [] and counts");
  return whole;
}

}  // namespace ares
