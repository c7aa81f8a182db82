#include "pmi/pmix_message.h"

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ares::pmi {
namespace {

constexpr std::size_t kLengthBytes = 4;

class Writer {
 public:
  void put(std::unsigned_integral auto value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      text_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  }
  void put(std::int32_t value) { put(static_cast<std::uint32_t>(value)); }
  void put(const std::string& value) {
    put(static_cast<std::uint32_t>(value.size()));
    text_ += value;
  }
  template <class A, class B>
  void put(const std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(static_cast<std::uint8_t>(value.has_value()));
    if (value) put(*value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// After the first thing that is missing or wrong everything is.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  template <std::unsigned_integral T>
  void get(T& value) {
    value = 0;
    if (text_.size() < sizeof value) return fail();
    for (std::size_t i = 0; i < sizeof value; ++i)
      value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(text_[i])) << (8 * i));
    text_.remove_prefix(sizeof value);
  }
  void get(std::int32_t& value) {
    std::uint32_t bits = 0;
    get(bits);
    value = static_cast<std::int32_t>(bits);
  }
  void get(std::string& value) {
    std::uint32_t size = 0;
    get(size);
    if (text_.size() < size) return fail();
    value = text_.substr(0, size);
    text_.remove_prefix(size);
  }
  template <class A, class B>
  void get(std::pair<A, B>& value) {
    get(value.first);
    get(value.second);
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::uint32_t count = 0;
    get(count);
    // Nothing is reserved: each element that is there has at least four bytes.
    for (std::uint32_t i = 0; i < count && right_; ++i) get(values.emplace_back());
  }
  template <class T>
  void get(std::optional<T>& value) {
    std::uint8_t there = 0;
    get(there);
    if (there > 1) return fail();
    if (there) get(value.emplace());
  }
  bool complete() const { return right_ && text_.empty(); }

 private:
  void fail() {
    right_ = false;
    text_ = {};
  }

  std::string_view text_;
  bool right_ = true;
};

// What is sent of a message, in this order.
template <class Message>
auto fields(Message& m) {
  using M = std::remove_const_t<Message>;
  if constexpr (std::same_as<M, PmixReady>) {
    return std::tie(m.of_local_ranks);
  } else if constexpr (std::same_as<M, PmixFailed>) {
    return std::tie(m.message);
  } else if constexpr (std::same_as<M, PmixFence>) {
    return std::tie(m.id, m.name, m.nodes, m.data);
  } else if constexpr (std::same_as<M, PmixModexRequest> || std::same_as<M, PmixModexAsk>) {
    return std::tie(m.id, m.rank);
  } else if constexpr (std::same_as<M, PmixModexData> || std::same_as<M, PmixFenceResult> ||
                       std::same_as<M, PmixModexResult>) {
    return std::tie(m.id, m.data);
  } else if constexpr (std::same_as<M, PmixAbort>) {
    return std::tie(m.rank, m.exit_code, m.message);
  } else if constexpr (std::same_as<M, PmixSetup>) {
    return std::tie(m.version, m.library, m.map.size, m.map.ranks_by_node, m.map.this_node, m.space,
                    m.hostnames, m.directory);
  } else {
    static_assert(std::same_as<M, PmixRankEnded>);
    return std::tie(m.rank);
  }
}

// The body begins with the index of the alternative.
template <class Variant>
std::string print(const Variant& message) {
  Writer body;
  body.put(static_cast<std::uint8_t>(message.index()));
  std::visit(
      [&](const auto& m) {
        std::apply([&](const auto&... field) { (body.put(field), ...); }, fields(m));
      },
      message);
  std::string text = body.take();
  Writer length;
  length.put(static_cast<std::uint32_t>(text.size()));
  return length.take() + text;
}

template <class Variant, std::size_t index = 0>
Result<Variant> read(std::size_t kind, Reader& in) {
  if constexpr (index == std::variant_size_v<Variant>) {
    return fail(ErrorCode::invalid_argument, "unknown message about PMIx");
  } else {
    if (kind != index) return read<Variant, index + 1>(kind, in);
    std::variant_alternative_t<index, Variant> message;
    std::apply([&](auto&... field) { (in.get(field), ...); }, fields(message));
    if (!in.complete()) return fail(ErrorCode::invalid_argument, "malformed message about PMIx");
    return Variant(std::move(message));
  }
}

template <class Variant>
Result<Variant> read(std::string_view body) {
  Reader in(body);
  std::uint8_t kind = 0;
  in.get(kind);
  return read<Variant>(kind, in);
}

}  // namespace

std::string frame(const PmixEvent& event) {
  return print(event);
}
std::string frame(const PmixCommand& command) {
  return print(command);
}

Result<PmixEvent> read_event(std::string_view body) {
  return read<PmixEvent>(body);
}
Result<PmixCommand> read_command(std::string_view body) {
  return read<PmixCommand>(body);
}

Result<std::optional<std::string>> PmixFrames::next() {
  const std::string_view rest = std::string_view(bytes_).substr(begin_);
  std::uint32_t length = 0;
  if (rest.size() >= kLengthBytes) Reader(rest.substr(0, kLengthBytes)).get(length);
  if (length > most_)
    return fail(ErrorCode::invalid_argument, "a message about PMIx has " + std::to_string(length) +
                                                 " bytes, of at most " + std::to_string(most_));
  if (rest.size() < kLengthBytes + length) {
    bytes_.erase(0, std::exchange(begin_, 0));
    return std::nullopt;
  }
  std::string body(rest.substr(kLengthBytes, length));
  begin_ += kLengthBytes + length;
  return body;
}

}  // namespace ares::pmi
