#include "checkpoint/adapter/table.h"

#include <memory>

namespace ares::checkpoint::table {
namespace {

std::int32_t give(const Result<std::string>& text, ares_checkpoint_take take, void* context,
                  const ares_checkpoint_error& error) {
  if (!text) return to_abi(Status(fail(text.error())), error);
  take(context, to_abi(*text));
  return ARES_CHECKPOINT_OK;
}

}  // namespace

void* open(OpenBackend make, const ares_checkpoint_host* host, ares_checkpoint_error error) {
  const auto warn = host->warn;
  void* const context = host->context;
  Result<std::unique_ptr<Backend>> made =
      make(from_abi(host->options), [warn, context](const std::string& line) {
        if (warn) warn(context, to_abi(line));
      });
  if (made) return made->release();
  (void)to_abi(Status(fail(made.error())), error);
  return nullptr;
}

void close(void* self) {
  const std::unique_ptr<Backend> closed(static_cast<Backend*>(self));
}

std::int32_t prepare(void* self, ares_checkpoint_text place, ares_checkpoint_error error) {
  return to_abi(backend(self).prepare(text(place)), error);
}

std::int32_t publish(void* self, ares_checkpoint_text directory, ares_checkpoint_text uri,
                     ares_checkpoint_text manifest, ares_checkpoint_error error) {
  return to_abi(backend(self).publish(text(directory), text(uri), text(manifest)), error);
}

std::int32_t withdraw(void* self, ares_checkpoint_text uri, ares_checkpoint_text directory,
                      ares_checkpoint_error error) {
  return to_abi(backend(self).withdraw(text(uri), text(directory)), error);
}

std::int32_t read(void* self, ares_checkpoint_text uri, ares_checkpoint_take take, void* context,
                  ares_checkpoint_error error) {
  return give(backend(self).read(text(uri)), take, context, error);
}

std::int32_t verify(void* self, ares_checkpoint_text uri, const std::uint8_t* digest,
                    ares_checkpoint_take take, void* context, ares_checkpoint_error error) {
  return give(backend(self).verify(text(uri), digest_from_abi(digest)), take, context, error);
}

std::int32_t fetch(void* self, ares_checkpoint_text uri, const std::uint8_t* digest,
                   ares_checkpoint_text directory, ares_checkpoint_error error) {
  return to_abi(backend(self).fetch(text(uri), digest_from_abi(digest), text(directory)), error);
}

std::int32_t list(void* self, ares_checkpoint_text place, ares_checkpoint_take take, void* context,
                  ares_checkpoint_error error) {
  const Result<std::vector<std::string>> uris = backend(self).list(text(place));
  if (!uris) return to_abi(Status(fail(uris.error())), error);
  for (const std::string& uri : *uris) take(context, to_abi(uri));
  return ARES_CHECKPOINT_OK;
}

std::int32_t remove_older(void* self, ares_checkpoint_text place, std::uint64_t oldest_kept,
                          ares_checkpoint_error error) {
  return to_abi(backend(self).remove_older(text(place), oldest_kept), error);
}

}  // namespace ares::checkpoint::table
