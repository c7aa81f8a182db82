#include "cli/output/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace ares::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Bytes fields that are digests, not text.
constexpr std::array<std::string_view, 2> kDigests = {"ares.api.JobSpec.script",
                                                      "ares.api.JobSpec.environment"};

bool is_digest(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_BYTES &&
         std::find(kDigests.begin(), kDigests.end(), field.full_name()) != kDigests.end();
}

// Length in bytes of the UTF-8 character at the front; 0 = invalid.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t size = byte(0) < 0x80    ? 1
                           : byte(0) < 0xc2  ? 0
                           : byte(0) < 0xe0  ? 2
                           : byte(0) < 0xf0  ? 3
                           : byte(0) <= 0xf4 ? 4
                                             : 0;
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool beyond = (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : size;
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\';
}

void put_hex(std::string_view bytes, std::string& out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  out += '"';
}

template <class Number>
void put_number(Number number, std::string& out) {
  std::array<char, 24> digits{};
  out.append(digits.data(),
             std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// `index` < 0: a field that is not repeated.
void put_value(const Message& m, const FieldDescriptor* f, int index, std::string& out, int depth) {
  const Reflection& r = *m.GetReflection();
  const bool one = index < 0;
  std::string scratch;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put_number(one ? r.GetInt32(m, f) : r.GetRepeatedInt32(m, f, index), out);
    case FieldDescriptor::CPPTYPE_INT64:
      return put_number(one ? r.GetInt64(m, f) : r.GetRepeatedInt64(m, f, index), out);
    case FieldDescriptor::CPPTYPE_UINT32:
      return put_number(one ? r.GetUInt32(m, f) : r.GetRepeatedUInt32(m, f, index), out);
    case FieldDescriptor::CPPTYPE_UINT64:
      return put_number(one ? r.GetUInt64(m, f) : r.GetRepeatedUInt64(m, f, index), out);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put_number(one ? r.GetDouble(m, f) : r.GetRepeatedDouble(m, f, index), out);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return put_number(one ? r.GetFloat(m, f) : r.GetRepeatedFloat(m, f, index), out);
    case FieldDescriptor::CPPTYPE_BOOL:
      out += (one ? r.GetBool(m, f) : r.GetRepeatedBool(m, f, index)) ? "true" : "false";
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return put_json_text((one ? r.GetEnum(m, f) : r.GetRepeatedEnum(m, f, index))->name(), out);
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string& text = one ? r.GetStringReference(m, f, &scratch)
                                    : r.GetRepeatedStringReference(m, f, index, &scratch);
      return is_digest(*f) ? put_hex(text, out) : put_json_text(text, out);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return put_json(one ? r.GetMessage(m, f) : r.GetRepeatedMessage(m, f, index), depth, out);
  }
}

}  // namespace

void put_json_text(std::string_view text, std::string& out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    if (text.empty()) break;
    const char c = text.front();
    std::size_t taken = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    } else if (const std::size_t size = character_size(text); size > 0) {
      out += text.substr(0, size);
      taken = size;
    } else {
      out += "\xef\xbf\xbd";
    }
    text.remove_prefix(taken);
  }
  out += '"';
}

void put_json(const Message& message, int depth, std::string& out) {
  const auto indent = static_cast<std::size_t>(depth + 1) * 2;
  out += '{';
  const auto* descriptor = message.GetDescriptor();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    out += i ? ",\n" : "\n";
    out.append(indent, ' ');
    out += '"';
    out += field->name();
    out += "\": ";
    if (field->is_repeated()) {
      const int count = reflection.FieldSize(message, field);
      out += '[';
      for (int k = 0; k < count; ++k) {
        if (k) out += ", ";
        put_value(message, field, k, out, depth + 1);
      }
      out += ']';
    } else if (field->has_presence() && !reflection.HasField(message, field)) {
      out += "null";
    } else {
      put_value(message, field, -1, out, depth + 1);
    }
  }
  out += '\n';
  out.append(indent - 2, ' ');
  out += '}';
}

void put_job_json(const Message& job, std::uint64_t id, int depth, std::string& out) {
  const std::size_t begin = out.size() + 1;  // behind the brace
  put_json(job, depth, out);
  std::string first = "\n" + std::string(static_cast<std::size_t>(depth + 1) * 2, ' ');
  first += "\"job_id\": ";
  put_number(id, first);
  out.insert(begin, first + ",");
}

std::string json_meta(std::string_view command) {
  std::string out = R"({"plugin": {"type": "ares", "name": )";
  put_json_text(command, out);
  return out + R"(}, "Ares": {"release": ")" ARES_VERSION R"("}})";
}

std::string to_json(const Message& message) {
  std::string out;
  put_json(message, 0, out);
  out += '\n';
  return out;
}

// No text in JSON has a line break in it.
std::string on_one_line(std::string_view json) {
  std::string line;
  line.reserve(json.size());
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (json[at] != '\n') {
      line += json[at];
      continue;
    }
    while (at + 1 < json.size() && json[at + 1] == ' ') ++at;
  }
  return line;
}

}  // namespace ares::cli
