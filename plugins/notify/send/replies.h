// What the answer of a server, or none, means for a message. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "notify/message/message.h"

namespace ares::notify {

// A status of HTTP. 2xx: delivered. 400, 405, 406, 409, 410, 413, 414, 415, 422, 501: this message is refused. Redirections, 401, 407, 408,
// 429, 502, 503, 504: later, for all messages to the server. Others, which a message may have caused: this message later.
// `retry_after`: the header's value, or empty. `body`: its first line is quoted.
Outcome http_outcome(long status, std::string_view retry_after, std::string_view body,
                     std::int64_t now);

// The reply code of SMTP after which the transfer ended (RFC 5321, 4.2), whether it was given to the message and not to the session, and a
// text. 0: there was none. Of a message: from 400 to 499 later, from 500 refused. 421, 530 to 538, and all of the session: later, for all mail.
Outcome smtp_outcome(long code, bool of_message, std::string text);

// RFC 9110, 10.2.3: seconds, or a date in its preferred form. 0: there is none, it is past or not valid. At most a day.
Seconds retry_after_of(std::string_view value, std::int64_t now);

}  // namespace ares::notify
