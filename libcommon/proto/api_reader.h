// Reads untrusted fields of api messages and keeps the first error.
// Local variable of one conversion; one thread. Private to proto/.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "base/units.h"
#include "model/job/text_kind.h"

namespace ares::proto {

class Reader {
 public:
  // `what` begins every error message: "job specification", "message of node n1".
  explicit Reader(std::string what) : what_(std::move(what)) {}

  void reject(std::string_view field, std::string_view why);

  void text(std::string_view field, const std::string& in, TextKind kind, std::string& out);

  // Readable text from another program of Ares. It is clipped and cleaned instead of rejected,
  // because a rejection would lose the whole message.
  static void cleaned_text(const std::string& in, std::string& out);

  template <class Repeated>
  void texts(std::string_view field, const Repeated& in, TextKind kind,
             std::vector<std::string>& out) {
    out.resize(static_cast<std::size_t>(in.size()));
    for (int i = 0; i < in.size(); ++i) text(field, in[i], kind, out[static_cast<std::size_t>(i)]);
  }

  // An integer that must fit the model's type.
  template <std::integral In, std::integral Out>
  void number(std::string_view field, In in, Out& out) {
    if (std::in_range<Out>(in))
      out = static_cast<Out>(in);
    else
      reject(field, "is out of range");
  }

  void bytes(std::string_view field, std::int64_t in, Bytes& out);
  void seconds(std::string_view field, std::int64_t in, Seconds& out);  // not negative
  void duration(std::string_view field, std::int64_t in,
                Duration& out);                                   // microseconds, not negative
  void time(std::string_view field, std::int64_t in, Time& out);  // microseconds, not negative
  void digest(std::string_view field, const std::string& in, std::array<std::uint8_t, 32>& out);

  // The result of a nested conversion: takes its value or its error.
  template <class T>
  void part(std::string_view field, Result<T> in, T& out) {
    if (in)
      out = std::move(*in);
    else
      reject(field, in.error().message);
  }

  bool ok() const { return !error_; }
  // Precondition: not ok().
  tl::unexpected<Error> error() const { return tl::unexpected<Error>(*error_); }

  template <class T>
  Result<T> finish(T value) const {
    if (error_) return error();
    return value;
  }

 private:
  std::string what_;
  std::optional<Error> error_;
};

}  // namespace ares::proto
