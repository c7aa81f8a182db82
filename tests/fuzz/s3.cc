// What S3 servers answer, and files of credentials. The first byte says which.
#include "checkpoint/s3/replies.h"
#include "checkpoint/s3/settings.h"
#include "checkpoint/s3/xml.h"
#include "fuzz/target.h"

namespace ares::fuzz {

// Each short element becomes a text of its own.
const Allowance kAllowance{std::size_t{16} << 20, 64};

namespace {

namespace s3 = checkpoint::s3;

void try_listing(std::string_view input) {
  const auto page = s3::parse_listing(input);
  if (!page) return require_fit_to_show(page.error().message);
  for (const std::string& key : page->keys)
    require(key.size() <= 1024, "a key has a bounded length");
  const std::string again =
      "<a>" + s3::xml_escaped(page->keys.empty() ? "" : page->keys[0]) + "</a>";
  std::string read;
  const Status done =
      s3::read_xml(again, [&](std::string_view, const std::string& value) { read = value; });
  require(done && (page->keys.empty() || read == page->keys[0]), "a text survives being written");
}

void try_error(std::string_view input) {
  const auto error = s3::parse_error(input);
  if (!error) return;
  require_fit_to_show(error->code);
  if (!error->message.empty()) require_fit_to_show(error->message);  // the server may give none
}

void try_credentials(std::string_view input) {
  const auto read = s3::parse_credentials(input, "default");
  if (!read) return require_fit_to_show(read.error().message);
  for (const std::string* text : {&read->key_id, &read->secret, &read->session_token})
    require(text->find_first_of("\r\n\t ") == std::string::npos, "it fits into a header");
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 'l': return try_listing(rest);
    case 'e': return try_error(rest);
    case 'c': return try_credentials(rest);
    case 'u':
      if (const auto id = s3::parse_upload_id(rest); !id) require_fit_to_show(id.error().message);
      return;
    default: return;
  }
}

}  // namespace ares::fuzz
