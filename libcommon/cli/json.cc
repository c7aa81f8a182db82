#include "cli/json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdio>

namespace ares::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string hex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const unsigned char c : bytes) {
    out += kDigits[c >> 4];
    out += kDigits[c & 15];
  }
  return out + '"';
}

void write(const Message& message, std::string& out, int depth);

// `index` < 0 is a field that stands once.
void write_value(const Message& m, const FieldDescriptor* f, int index, std::string& out,
                 int depth) {
  const Reflection& r = *m.GetReflection();
  const bool one = index < 0;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      out += std::to_string(one ? r.GetInt32(m, f) : r.GetRepeatedInt32(m, f, index));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      out += std::to_string(one ? r.GetInt64(m, f) : r.GetRepeatedInt64(m, f, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      out += std::to_string(one ? r.GetUInt32(m, f) : r.GetRepeatedUInt32(m, f, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      out += std::to_string(one ? r.GetUInt64(m, f) : r.GetRepeatedUInt64(m, f, index));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      out += std::to_string(one ? r.GetDouble(m, f) : r.GetRepeatedDouble(m, f, index));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      out += std::to_string(one ? r.GetFloat(m, f) : r.GetRepeatedFloat(m, f, index));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      out += (one ? r.GetBool(m, f) : r.GetRepeatedBool(m, f, index)) ? "true" : "false";
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      out += quote((one ? r.GetEnum(m, f) : r.GetRepeatedEnum(m, f, index))->name());
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = one ? r.GetString(m, f) : r.GetRepeatedString(m, f, index);
      out += f->type() == FieldDescriptor::TYPE_BYTES ? hex(text) : quote(text);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      write(one ? r.GetMessage(m, f) : r.GetRepeatedMessage(m, f, index), out, depth);
      break;
  }
}

void write(const Message& message, std::string& out, int depth) {
  const std::string indent(static_cast<std::size_t>(depth + 1) * 2, ' ');
  out += "{";
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    out += (i ? ",\n" : "\n") + indent + "\"" + field->name() + "\": ";
    if (field->is_repeated()) {
      const int count = message.GetReflection()->FieldSize(message, field);
      out += "[";
      for (int k = 0; k < count; ++k) {
        if (k) out += ", ";
        write_value(message, field, k, out, depth + 1);
      }
      out += "]";
    } else if (field->has_presence() && !message.GetReflection()->HasField(message, field)) {
      out += "null";
    } else {
      write_value(message, field, -1, out, depth + 1);
    }
  }
  out += "\n" + std::string(static_cast<std::size_t>(depth) * 2, ' ') + "}";
}

}  // namespace

std::string to_json(const google::protobuf::Message& message) {
  std::string out;
  write(message, out, 0);
  return out + "\n";
}

}  // namespace ares::cli
