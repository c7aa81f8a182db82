#include "arespmixd/channel.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace ares::pmixd {

Status Channel::send(const pmi::PmixEvent& event) {
  const std::string text = pmi::frame(event);
  if (text.size() > pmi::kMostPmixEvent)
    return fail(ErrorCode::resource_exhausted,
                "the ranks of this node exchange " + std::to_string(text.size()) +
                    " bytes by PMIx at once; " + std::to_string(pmi::kMostPmixEvent) +
                    " are possible");
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fail(os::errno_error("cannot tell the step's daemon of PMIx"));
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<bool> Channel::receive() {
  char bytes[65536];
  while (true) {
    const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(os::errno_error("cannot hear the step's daemon"));
    frames_.add({bytes, static_cast<std::size_t>(got)});
    return got > 0;
  }
}

Result<std::optional<pmi::PmixCommand>> Channel::next() {
  const auto body = frames_.next();
  if (!body) return fail(body.error());
  if (!*body) return std::nullopt;
  auto command = pmi::read_command(**body);
  if (!command) return fail(command.error());
  return std::optional(std::move(*command));
}

}  // namespace ares::pmixd
