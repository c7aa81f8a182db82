#include "node/text_fields.h"

#include "base/printable.h"

namespace ares::node {
namespace {

std::string unescape(std::string_view value) {
  std::string result;
  result.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '\\' || i + 1 == value.size()) {
      result += value[i];
      continue;
    }
    switch (value[++i]) {
      case 'n': result += '\n'; break;
      case '0': result += '\0'; break;
      default: result += value[i];
    }
  }
  return result;
}

}  // namespace

FieldWriter& FieldWriter::put(std::string_view key, std::string_view value) {
  text_.append(key);
  text_ += ' ';
  for (char c : value) {
    switch (c) {
      case '\n': text_ += "\\n"; break;
      case '\0': text_ += "\\0"; break;
      case '\\': text_ += "\\\\"; break;
      default: text_ += c;
    }
  }
  text_ += '\n';
  return *this;
}

FieldReader::FieldReader(std::string_view what, std::string_view text) : what_(what) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) {
      wrong(line, "has no value");
      continue;
    }
    fields_[std::string(line.substr(0, space))].push_back(unescape(line.substr(space + 1)));
  }
}

std::string FieldReader::text(std::string_view key) {
  auto it = fields_.find(key);
  if (it == fields_.end()) return wrong(key, "is missing"), std::string();
  return it->second.front();
}

std::string FieldReader::text_or_empty(std::string_view key) const {
  auto it = fields_.find(key);
  return it == fields_.end() ? std::string() : it->second.front();
}

std::vector<std::string> FieldReader::all(std::string_view key) const {
  auto it = fields_.find(key);
  return it == fields_.end() ? std::vector<std::string>() : it->second;
}

void FieldReader::wrong(std::string_view key, std::string_view why) {
  if (!status_) return;
  status_ =
      fail(ErrorCode::data_loss, "record " + what_ + ": " + quote(key) + " " + std::string(why));
}

}  // namespace ares::node
