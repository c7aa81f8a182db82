// BoxedString: a text for members that are seldom set, one pointer wide where std::string has four. It is read like the
// std::string, and converts to it; edit() is the string itself.
// Owned by the value that it is a member of; any thread that may use that one.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/boxed_or_default.h"

namespace ares {

class BoxedString : public BoxedOrDefault<std::string> {
 public:
  BoxedString() = default;
  // From all that a std::string is assigned from without a cast.
  template <class Text>
  requires(!std::same_as<std::remove_cvref_t<Text>, BoxedString> &&
           std::convertible_to<Text, std::string>) BoxedString(Text&& text)
      : BoxedOrDefault(std::string(std::forward<Text>(text))) {}

  operator std::string_view() const { return get(); }
  bool empty() const { return get().empty(); }
  std::size_t size() const { return get().size(); }
  const char* c_str() const { return get().c_str(); }
  void clear() { reset(); }

  friend bool operator==(const BoxedString& a, const BoxedString& b) { return a.get() == b.get(); }
  template <class Text>
  requires(!std::same_as<Text, BoxedString> &&
           std::convertible_to<const Text&, std::string_view>) friend bool
  operator==(const BoxedString& a, const Text& b) {
    return a.get() == std::string_view(b);
  }
};

}  // namespace ares
