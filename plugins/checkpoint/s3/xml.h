// A strict reader of the XML that S3 servers answer with: elements with text, nothing else. What the server says is not
// trusted. Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::checkpoint::s3 {

// Calls `visit` for each element when it ends, with the names from the outermost one to it ("ListBucketResult/Contents/Key")
// and the text directly in it. Names lose their prefix ("s3:Key"), attributes are passed over. invalid_argument: not such
// XML; a document type, CDATA, an entity other than the five of XML or of a character, or more than 16 elements in each other.
Status read_xml(std::string_view text,
                const std::function<void(std::string_view path, const std::string& value)>& visit);

// Text as it may stand in an element.
std::string xml_escaped(std::string_view text);

}  // namespace ares::checkpoint::s3
