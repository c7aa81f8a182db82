#include "checkpoint/s3/xml.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

namespace ares::checkpoint::s3 {
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kLongestName = 128;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// What stands between & and ;.
bool append_entity(std::string_view name, std::string& out) {
  struct Entity {
    std::string_view name;
    char value;
  };
  constexpr Entity kEntities[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const Entity& entity : kEntities)
    if (entity.name == name) return out += entity.value, true;
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const bool hex = name.starts_with('x');
  if (hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, hex ? 16 : 10);
  const bool valid = error == std::errc() && end == name.data() + name.size() && code != 0 &&
                     code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (valid) append_utf8(code, out);
  return valid;
}

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}

  Status read(const std::function<void(std::string_view, const std::string&)>& visit) {
    skip_blanks();
    if (rest_.starts_with("<?xml") && !skip_past("?>")) return wrong("its first line has no end");
    skip_blanks();
    for (;;) {
      if (!rest_.starts_with('<')) return wrong("there is text outside of its element");
      rest_.remove_prefix(1);
      if (Status read = rest_.starts_with('/') ? end_tag(visit) : start_tag(visit); !read)
        return read;
      if (open_.empty()) break;
      if (Status read = text(); !read) return read;
    }
    skip_blanks();
    if (!rest_.empty()) return wrong("something follows its element");
    return {};
  }

 private:
  struct Element {
    std::size_t path_size;  // of the path without it
    std::string value;
  };

  static Status wrong(const char* why) {
    return fail(ErrorCode::invalid_argument, std::string("not the XML that is expected: ") + why);
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  bool skip_past(std::string_view what) {
    const std::size_t found = rest_.find(what);
    if (found == std::string_view::npos) return false;
    rest_.remove_prefix(found + what.size());
    return true;
  }
  // Empty: there is none.
  std::string_view name() {
    std::size_t size = 0;
    while (size < rest_.size() && is_name_part(rest_[size])) ++size;
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return size > kLongestName ? std::string_view() : found;
  }

  Status start_tag(const std::function<void(std::string_view, const std::string&)>& visit) {
    const std::string_view full = name();
    const std::string_view local = full.substr(full.find(':') + 1);  // all of it without ':'
    if (local.empty()) return wrong("an element has no name");
    if (open_.size() >= kDeepest) return wrong("too many elements in each other");
    open_.push_back({path_.size(), {}});
    path_ += (path_.empty() ? "" : "/") + std::string(local);
    for (;;) {
      skip_blanks();
      if (rest_.starts_with('>')) return rest_.remove_prefix(1), Status();
      if (rest_.starts_with("/>")) {
        rest_.remove_prefix(2);
        close(visit);
        return {};
      }
      if (!skip_attribute()) return wrong("an attribute of an element");
    }
  }

  bool skip_attribute() {
    if (name().empty()) return false;
    skip_blanks();
    if (!rest_.starts_with('=')) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    if (!rest_.starts_with('"') && !rest_.starts_with('\'')) return false;
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos || rest_.substr(0, end).find('<') != std::string_view::npos)
      return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  Status end_tag(const std::function<void(std::string_view, const std::string&)>& visit) {
    rest_.remove_prefix(1);
    const std::string_view full = name();
    const std::string_view local = full.substr(full.find(':') + 1);
    skip_blanks();
    if (open_.empty() || local != path_.substr(path_.rfind('/') + 1) || !rest_.starts_with('>'))
      return wrong("an element ends that does not begin there");
    rest_.remove_prefix(1);
    close(visit);
    return {};
  }

  void close(const std::function<void(std::string_view, const std::string&)>& visit) {
    visit(path_, open_.back().value);
    path_.resize(open_.back().path_size);
    open_.pop_back();
  }

  // Up to the next tag.
  Status text() {
    std::string& out = open_.back().value;
    for (;;) {
      const std::size_t next = rest_.find_first_of("<&");
      if (next == std::string_view::npos) return wrong("it ends within an element");
      out += rest_.substr(0, next);
      rest_.remove_prefix(next);
      if (rest_.front() == '<') return {};
      const std::size_t end = rest_.substr(0, 12).find(';');
      if (end == std::string_view::npos || !append_entity(rest_.substr(1, end - 1), out))
        return wrong("an entity is not known");
      rest_.remove_prefix(end + 1);
    }
  }

  std::string_view rest_;
  std::string path_;
  std::vector<Element> open_;
};

}  // namespace

Status read_xml(std::string_view text,
                const std::function<void(std::string_view path, const std::string& value)>& visit) {
  return XmlReader(text).read(visit);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

}  // namespace ares::checkpoint::s3
