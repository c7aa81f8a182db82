#include "cli/values/json_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/printable.h"

namespace ares::cli {
namespace {

using Kind = JsonValue::Kind;

void put_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  }
}

// The first problem ends the parse: it sets `problem_`, and every later step returns at once.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonObject> parse() {
    JsonObject object;
    const bool ok = read_object(object);
    skip_blanks();
    if (ok && at_ < text_.size()) wrong("nothing may follow the object");
    if (problem_) return fail(ErrorCode::invalid_argument, *problem_);
    return object;
  }

 private:
  bool wrong(const std::string& why) {
    if (!problem_) problem_ = "column " + std::to_string(at_ + 1) + ": " + why;
    return false;
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string::npos)
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool read_object(JsonObject& object) {
    if (!take('{')) return wrong("expected an object: {\"script\": \"job.sh\", ...}");
    if (take('}')) return true;
    do {
      std::string key;
      skip_blanks();
      if (!read_text(key)) return false;
      const auto same = [&](const auto& entry) { return entry.first == key; };
      if (std::any_of(object.begin(), object.end(), same))
        return wrong(quote(key) + " stands there twice");
      if (!take(':')) return wrong("expected : behind " + quote(key));
      JsonValue value;
      if (!read_value(value)) return false;
      object.emplace_back(std::move(key), std::move(value));
    } while (take(','));
    return take('}') || wrong("expected , or }");
  }

  bool read_value(JsonValue& value) {
    skip_blanks();
    if (take_word("null")) return true;
    value.kind = Kind::boolean;
    value.boolean = take_word("true");
    if (value.boolean || take_word("false")) return true;
    if (at_ < text_.size() && text_[at_] == '[') {
      value.kind = Kind::list;
      return read_list(value.items);
    }
    return read_plain(value);
  }

  bool read_plain(JsonValue& value) {
    value.kind = at_ < text_.size() && text_[at_] == '"' ? Kind::text : Kind::number;
    return value.kind == Kind::text ? read_text(value.text) : read_number(value.text);
  }

  bool read_list(std::vector<std::string>& items) {
    take('[');
    if (take(']')) return true;
    do {
      JsonValue item;
      skip_blanks();
      if (!read_plain(item)) return false;
      items.push_back(std::move(item.text));
    } while (take(','));
    return take(']') || wrong("expected , or ]");
  }

  bool read_number(std::string& out) {
    const std::size_t begin = at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ > first;
    };
    take_word("-");
    bool good = digits();
    if (good && take_word(".")) good = digits();
    if (good && (take_word("e") || take_word("E"))) {
      if (!take_word("+")) take_word("-");
      good = digits();
    }
    if (!good) {
      at_ = begin;
      return wrong("expected a text in double quotes, a number, true, false, null or a list");
    }
    out = text_.substr(begin, at_ - begin);
    return true;
  }

  bool read_text(std::string& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return wrong("expected a text in double quotes");
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20)
        return wrong("a control character in a text; write it as \\n or \\u0009");
      if (c != '\\') {
        out += c;
      } else if (!read_escape(out)) {
        return false;
      }
    }
    return wrong("the text is not closed");
  }

  // `at_` is at the backslash before the call, and at the last character of the escape after it.
  bool read_escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (++at_ >= text_.size()) return wrong("the text is not closed");
    if (const std::size_t known = kLetters.find(text_[at_]); known != std::string_view::npos) {
      out += kMeant[known];
      return true;
    }
    if (text_[at_] != 'u') return wrong("\\ is followed by one of \" \\ / b f n r t u");
    std::uint32_t code = 0;
    if (!read_hex(code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {  // The first half of a surrogate pair.
      std::uint32_t low = 0;
      if (text_.substr(at_ + 1, 2) != "\\u") return wrong("half of a surrogate pair");
      at_ += 2;
      if (!read_hex(low)) return false;
      if (low < 0xdc00 || low > 0xdfff) return wrong("half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return wrong("half of a surrogate pair");
    }
    if (code == 0) return wrong("\\u0000 cannot be part of a text");
    put_utf8(code, out);
    return true;
  }

  // `at_` is at the u before the call, and at the last digit after it.
  bool read_hex(std::uint32_t& code) {
    const std::string_view digits = text_.substr(at_ + 1, 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() < 4 || error != std::errc{} || end != digits.data() + 4)
      return wrong("\\u is followed by four hexadecimal digits");
    at_ += 4;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> problem_;
};

}  // namespace

Result<JsonObject> parse_json_object(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace ares::cli
