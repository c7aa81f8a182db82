// The plugin's side of the checkpoint ABI: a Backend behind the table of a plugin. The object that open() returns belongs to
// the host. One thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "checkpoint/adapter/convert.h"
#include "checkpoint/backend.h"
#include "plugin/checkpoint_abi.h"

namespace ares::checkpoint {

// What a plugin gives: it makes the Backend from its options, or says why it cannot be used.
using OpenBackend = Result<std::unique_ptr<Backend>> (*)(std::string_view options, Warn warn);

namespace table {

inline Backend& backend(void* self) {
  return *static_cast<Backend*>(self);
}
inline std::string text(const ares_checkpoint_text& given) {
  return std::string(from_abi(given));
}

// For open(), which must be a function of its own for each plugin.
void* open(OpenBackend make, const ares_checkpoint_host* host, ares_checkpoint_error error);
void close(void* self);
std::int32_t prepare(void* self, ares_checkpoint_text place, ares_checkpoint_error error);
std::int32_t publish(void* self, ares_checkpoint_text directory, ares_checkpoint_text uri,
                     ares_checkpoint_text manifest, ares_checkpoint_error error);
std::int32_t withdraw(void* self, ares_checkpoint_text uri, ares_checkpoint_text directory,
                      ares_checkpoint_error error);
std::int32_t read(void* self, ares_checkpoint_text uri, ares_checkpoint_take take, void* context,
                  ares_checkpoint_error error);
std::int32_t verify(void* self, ares_checkpoint_text uri, const std::uint8_t* digest,
                    ares_checkpoint_take take, void* context, ares_checkpoint_error error);
std::int32_t fetch(void* self, ares_checkpoint_text uri, const std::uint8_t* digest,
                   ares_checkpoint_text directory, ares_checkpoint_error error);
std::int32_t list(void* self, ares_checkpoint_text place, ares_checkpoint_take take, void* context,
                  ares_checkpoint_error error);
std::int32_t remove_older(void* self, ares_checkpoint_text place, std::uint64_t oldest_kept,
                          ares_checkpoint_error error);

}  // namespace table

template <OpenBackend make>
constexpr ares_checkpoint_plugin table_of(const char* scheme, bool moves) {
  return {ARES_CHECKPOINT_ABI_VERSION,
          sizeof(ares_checkpoint_plugin),
          scheme,
          moves,
          [](const ares_checkpoint_host* host, ares_checkpoint_error error) {
            return table::open(make, host, error);
          },
          table::close,
          table::prepare,
          table::publish,
          table::withdraw,
          table::read,
          table::verify,
          table::fetch,
          table::list,
          table::remove_older};
}

}  // namespace ares::checkpoint
