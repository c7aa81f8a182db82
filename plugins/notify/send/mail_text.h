// A mail as it goes over the wire: RFC 5322 with the encodings of MIME (RFC 2045, RFC 2047). Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "notify/message/message.h"

namespace ares::notify {

// Header and body, with lines that end with CR LF and have at most 998 bytes. The body is sent as it is if it is ASCII with such
// lines, else in base64. Values of headers hold no line break, whatever the job's texts contain.
std::string internet_message(const Mail& mail);

// RFC 5322, 3.3, in UTC: "Sat, 28 Nov 2026 09:05:00 +0000".
std::string mail_date(std::int64_t seconds);

// The value of a header: as it is if it is printable ASCII, else as encoded words of RFC 2047, folded.
std::string encoded_header(std::string_view text);

// RFC 2045, 6.8: lines of at most 76 characters, each with CR LF.
std::string base64_lines(std::string_view bytes);

}  // namespace ares::notify
