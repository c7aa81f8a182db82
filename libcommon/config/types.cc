#include "config/types.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

#include "base/duration.h"
#include "base/hostlist.h"
#include "base/printable.h"

namespace ares::config {
namespace {

Result<std::string> scalar(const Value& value) {
  switch (value.kind) {
    case Value::Kind::scalar: return value.text;
    case Value::Kind::null: return std::string();
    case Value::Kind::list:
    case Value::Kind::map: break;
  }
  return invalid("expected one value, not a list or a map");
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class T>
Result<T> number(const Value& value, T min, T max) {
  const Result<std::string> text = scalar(value);
  if (!text) return fail(text.error());
  T parsed{};
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, parsed);
  if (error != std::errc{} || rest != end || parsed < min || parsed > max)
    return invalid(quote(*text) + " is not a whole number from " + std::to_string(min) + " to " +
                   std::to_string(max));
  return parsed;
}

template <class T>
Type<T> number_type(std::string name, T min, T max) {
  return {std::move(name), [=](const Value& value) { return number<T>(value, min, max); },
          [](const T& n) { return std::to_string(n); }};
}

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<std::string>> texts(const Value& value) {
  std::vector<std::string> out;
  switch (value.kind) {
    case Value::Kind::null: return out;
    case Value::Kind::scalar: out.push_back(value.text); return out;
    case Value::Kind::list: break;
    case Value::Kind::map: return invalid("expected a list such as [a, b]");
  }
  for (const Value& item : value.items) {
    if (item.kind != Value::Kind::scalar)
      return invalid("expected a list of plain words such as [a, b]");
    out.push_back(item.text);
  }
  return out;
}

std::string print_texts(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quote_yaml(text);
  return "[" + out + "]";
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

// "null" would be read as no value, "-" as the begin of an item. An empty name omits its key.
std::string print_name(const std::string& name) {
  const bool is_plain =
      name.empty() ||
      (std::isalnum(static_cast<unsigned char>(name.front())) != 0 && lower(name) != "null");
  return is_plain ? name : quote_yaml(name);
}

Status check_address(const std::string& address) {
  if (address.starts_with("unix:/")) {
    if (address.size() - 5 > 107)
      return invalid(quote(address) +
                     ": a Unix socket's path may have 107 letters; choose a shorter one");
    return {};
  }
  if (address.starts_with("tcp:")) {
    const std::size_t colon = address.rfind(':');
    std::uint16_t port = 0;
    const char* end = address.data() + address.size();
    const auto [rest, error] = std::from_chars(address.data() + colon + 1, end, port);
    if (colon > 4 && error == std::errc{} && rest == end) return {};
  }
  return invalid(quote(address) + " is not an address; write unix:/absolute/path or tcp:HOST:PORT");
}

}  // namespace

Type<std::string> text_type() {
  return {"text", scalar, [](const std::string& text) { return quote_yaml(text); }};
}

Type<std::string> name_type() {
  return {"name",
          [](const Value& value) -> Result<std::string> {
            Result<std::string> text = scalar(value);
            if (text && !is_name(*text))
              return invalid(quote(*text) +
                             " is not a name: up to 64 letters, digits, '.', '_' and '-'");
            return text;
          },
          print_name};
}

Type<std::string> choice_type(std::vector<std::string> words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " | ") + word;
  return {all,
          [words, all](const Value& value) -> Result<std::string> {
            Result<std::string> text = scalar(value);
            if (!text) return text;
            std::string word = lower(*text);
            if (std::find(words.begin(), words.end(), word) != words.end()) return word;
            return invalid(quote(*text) + " is not one of " + all + suggestion(word, words));
          },
          [](const std::string& text) { return text; }};
}

Type<std::string> file_type() {
  const auto text = text_type();
  return {"FILE",
          [text](const Value& value) -> Result<std::string> {
            auto path = text.parse(value);
            if (path && !path->empty() && !path->starts_with('/'))
              return fail(ErrorCode::invalid_argument, quote(*path) + " is not an absolute path");
            return path;
          },
          text.print};
}

Type<std::string> program_type() {
  const auto text = text_type();
  return {"FILE",
          [text](const Value& value) -> Result<std::string> {
            auto path = text.parse(value);
            if (path && !path->empty() && !path->starts_with('/'))
              return fail(ErrorCode::invalid_argument,
                          quote(*path) + " is not the absolute path of a program");
            return path;
          },
          text.print};
}

Type<std::vector<std::string>> text_list_type() {
  return {"list of texts", texts, print_texts};
}

Type<std::vector<std::string>> address_list_type() {
  return {"list of addresses",
          [](const Value& value) -> Result<std::vector<std::string>> {
            Result<std::vector<std::string>> list = texts(value);
            if (!list) return list;
            for (const std::string& address : *list)
              if (Status good = check_address(address); !good) return fail(good.error());
            return list;
          },
          print_texts};
}

Type<std::vector<std::string>> host_list_type() {
  return {
      "host list",
      [](const Value& value) -> Result<std::vector<std::string>> {
        Result<std::vector<std::string>> list = texts(value);
        if (!list) return list;
        std::string joined;
        for (const std::string& item : *list) joined += (joined.empty() ? "" : ",") + item;
        if (joined == "ALL") return std::vector<std::string>{joined};
        return expand_hostlist(joined);
      },
      [](const std::vector<std::string>& names) { return quote_yaml(compress_hostlist(names)); }};
}

Type<bool> boolean_type() {
  return {"true | false",
          [](const Value& value) -> Result<bool> {
            const Result<std::string> text = scalar(value);
            if (!text) return fail(text.error());
            const std::string word = lower(*text);
            if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
            if (word == "false" || word == "no" || word == "off" || word == "0") return false;
            return invalid(quote(*text) + " is neither true nor false");
          },
          [](const bool& yes) { return std::string(yes ? "true" : "false"); }};
}

Type<std::uint16_t> port_type() {
  return number_type<std::uint16_t>("port", 1, 65535);
}

Type<PortRange> port_range_type() {
  return {"FIRST-LAST | NONE",
          [](const Value& value) -> Result<PortRange> {
            const Result<std::string> text = scalar(value);
            if (!text) return fail(text.error());
            if (lower(*text) == "none") return PortRange{};
            PortRange range;
            const char* const end = text->data() + text->size();
            const auto first = std::from_chars(text->data(), end, range.first);
            if (first.ec == std::errc() && first.ptr != end && *first.ptr == '-') {
              const auto last = std::from_chars(first.ptr + 1, end, range.last);
              if (last.ec == std::errc() && last.ptr == end && range.first >= 1024 &&
                  range.first <= range.last)
                return range;
            }
            return invalid(quote(*text) +
                           " is not a range of ports from 1024 on, such as 20000-24999, or NONE");
          },
          [](const PortRange& range) {
            return range.first == 0
                       ? std::string("NONE")
                       : std::to_string(range.first) + "-" + std::to_string(range.last);
          }};
}

Type<std::uint32_t> count_type(std::uint32_t min) {
  return number_type<std::uint32_t>("count", min, std::numeric_limits<std::uint32_t>::max() - 1);
}

Type<std::map<std::string, std::uint32_t>> count_map_type() {
  using Counts = std::map<std::string, std::uint32_t>;
  return {"{NAME: COUNT, ...}",
          [](const Value& value) -> Result<Counts> {
            Counts counts;
            if (value.kind == Value::Kind::null) return counts;
            if (value.kind != Value::Kind::map)
              return invalid("expected names with their numbers, such as {matlab: 10}");
            for (const Entry& entry : value.entries) {
              if (!is_name(entry.key))
                return invalid(quote(entry.key) +
                               " is not a name: up to 64 letters, digits, '.', '_' and '-'");
              const auto count = count_type().parse(entry.value);
              if (!count) return invalid(entry.key + ": " + count.error().message);
              counts[entry.key] = *count;
            }
            return counts;
          },
          [](const Counts& counts) {
            std::string out;
            for (const auto& [name, count] : counts)
              out += (out.empty() ? "" : ", ") + quote_yaml(name) + ": " + std::to_string(count);
            return out.empty() ? out : "{" + out + "}";
          }};
}

Type<std::map<std::string, double>> price_map_type() {
  using Prices = std::map<std::string, double>;
  return {"{TRES: PRICE, ...}",
          [](const Value& value) -> Result<Prices> {
            Prices prices;
            if (value.kind == Value::Kind::null) return prices;
            if (value.kind != Value::Kind::map)
              return invalid("expected TRES with their prices, such as {cpu: 0.02}");
            for (const Entry& entry : value.entries) {
              const Result<std::string> text = scalar(entry.value);
              if (!text) return invalid(excerpt(entry.key) + ": " + text.error().message);
              double price = 0;
              const char* end = text->data() + text->size();
              const auto [rest, error] = std::from_chars(text->data(), end, price);
              if (error != std::errc{} || rest != end || !(price >= 0 && price <= 1e6))
                return invalid(excerpt(entry.key) + ": " + quote(*text) +
                               " is not a price from 0 to 1000000");
              prices[entry.key] = price;
            }
            return prices;
          },
          [](const Prices& prices) {
            std::string out;
            for (const auto& [tres, price] : prices)
              out += (out.empty() ? "" : ", ") + quote_yaml(tres) + ": " +
                     fraction_type().print(price);
            return out.empty() ? out : "{" + out + "}";
          }};
}

Type<std::int32_t> integer_type() {
  return number_type<std::int32_t>("integer", std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max());
}

Type<std::optional<std::uint32_t>> bound_type() {
  using Bound = std::optional<std::uint32_t>;
  return {
      "count | UNLIMITED",
      [](const Value& value) -> Result<Bound> {
        const Result<std::string> text = scalar(value);
        if (text && lower(*text) == "unlimited") return Bound{};
        const auto count =
            number<std::uint32_t>(value, 1, std::numeric_limits<std::uint32_t>::max() - 1);
        if (!count) return fail(count.error());
        return Bound{*count};
      },
      [](const Bound& bound) { return bound ? std::to_string(*bound) : std::string("UNLIMITED"); }};
}

Type<double> fraction_type() {
  return {"fraction",
          [](const Value& value) -> Result<double> {
            const Result<std::string> text = scalar(value);
            if (!text) return fail(text.error());
            double parsed = 0;
            const char* end = text->data() + text->size();
            const auto [rest, error] = std::from_chars(text->data(), end, parsed);
            if (error != std::errc{} || rest != end || !(parsed >= 0 && parsed <= 1))
              return invalid(quote(*text) + " is not a number from 0 to 1");
            return parsed;
          },
          [](const double& n) {
            char buffer[32];
            const auto end = std::to_chars(buffer, buffer + sizeof buffer, n);
            return std::string(buffer, end.ptr);
          }};
}

Type<Seconds> duration_type() {
  return {
      "duration",
      [](const Value& value) -> Result<Seconds> {
        const Result<std::string> text = scalar(value);
        if (!text) return fail(text.error());
        if (all_digits(*text)) {
          const auto count =
              number<std::uint32_t>(value, 0, std::numeric_limits<std::int32_t>::max());
          if (!count) return fail(count.error());
          return Seconds(*count);
        }
        const Result<TimeLimit> length = parse_time_limit(*text);
        if (length && *length) return Seconds(**length);
        return invalid(quote(*text) +
                       " is not a duration; write seconds, minutes:seconds, hours:minutes:seconds "
                       "or days-hours[:minutes[:seconds]]");
      },
      [](const Seconds& length) { return std::to_string(length.count()); }};
}

Type<std::optional<Seconds>> time_limit_type() {
  using Limit = std::optional<Seconds>;
  return {"time limit",
          [](const Value& value) -> Result<Limit> {
            const Result<std::string> text = scalar(value);
            if (!text) return fail(text.error());
            return parse_time_limit(*text);
          },
          [](const Limit& limit) { return quote_yaml(format_time_limit(limit)); }};
}

Type<std::chrono::milliseconds> milliseconds_type() {
  return {"milliseconds",
          [](const Value& value) -> Result<std::chrono::milliseconds> {
            const auto count =
                number<std::uint32_t>(value, 0, std::numeric_limits<std::int32_t>::max());
            if (!count) return fail(count.error());
            return std::chrono::milliseconds(*count);
          },
          [](const std::chrono::milliseconds& length) { return std::to_string(length.count()); }};
}

Type<Bytes> memory_type() {
  return {"memory",
          [](const Value& value) -> Result<Bytes> {
            const Result<std::string> text = scalar(value);
            if (!text) return fail(text.error());
            return parse_memory(*text);
          },
          [](const Bytes& amount) { return format_memory(amount); }};
}

Type<std::uint32_t> size_type() {
  return {"size",
          [](const Value& value) -> Result<std::uint32_t> {
            const Result<std::string> text = scalar(value);
            if (!text) return fail(text.error());
            const Result<Bytes> size = parse_memory(*text, MemoryUnit::B);
            if (!size) return fail(size.error());
            if (size->value() > std::numeric_limits<std::int32_t>::max())
              return invalid(quote(*text) + " is more than 2G");
            return static_cast<std::uint32_t>(size->value());
          },
          [](const std::uint32_t& size) { return format_memory(Bytes(size)); }};
}

}  // namespace ares::config
