// How one field of a job's specification is taken to a message and back, for every kind of field. What a single value becomes is up
// to the functions of the two conversions, convert_spec.cc and storage_convert_spec.cc. Private to proto/. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/boxed.h"
#include "base/boxed_or_default.h"
#include "base/boxed_string.h"
#include "base/boxed_vector.h"

namespace ares::proto {

// ARES_SPEC_ACCESS(name): a type that reaches field `name` of any message that has it.
#define ARES_SPEC_ACCESS(name)                                         \
  struct name {                                                        \
    static constexpr const char* kName = #name;                        \
    template <class Message>                                           \
    static decltype(auto) get(const Message& message) {                \
      return message.name();                                           \
    }                                                                  \
    /* Whether an optional field is there; of a text: is not empty. */ \
    template <class Message>                                           \
    static bool is_given(const Message& message) {                     \
      if constexpr (requires { message.has_##name(); })                \
        return message.has_##name();                                   \
      else                                                             \
        return !message.name().empty();                                \
    }                                                                  \
    template <class Message, class Value>                              \
    static void set(Message& message, Value&& value) {                 \
      message.set_##name(std::forward<Value>(value));                  \
    }                                                                  \
    template <class Message>                                           \
    static auto& part(Message& message) {                              \
      return *message.mutable_##name();                                \
    }                                                                  \
  };

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kMayBeAbsent = false;
template <class T>
inline constexpr bool kMayBeAbsent<std::optional<T>> = true;
template <class T>
inline constexpr bool kMayBeAbsent<Boxed<T>> = true;
// Taken as the value that it stands for.
template <class T>
inline constexpr bool kStandsForValue = false;
template <class T>
inline constexpr bool kStandsForValue<BoxedOrDefault<T>> = true;
template <class T>
inline constexpr bool kStandsForValue<BoxedVector<T>> = true;
template <>
inline constexpr bool kStandsForValue<BoxedString> = true;

// `put.plain(value)` is what a field without parts is set to; `put(value, part)` fills a message, or a text of a list.
template <class Put, class T>
concept PutsPlain = requires(const Put& put, const T& value) {
  put.plain(value);
};

template <class Field, class Put, class T, class Message>
void put_value(const Put& put, const T& value, Message& to) {
  if constexpr (PutsPlain<Put, T>)
    Field::set(to, put.plain(value));
  else
    put(value, Field::part(to));
}

template <class Field, class Put, class T, class Message>
void put_field(const Put& put, const T& from, Message& to) {
  if constexpr (kStandsForValue<T>) {
    put_field<Field>(put, from.get(), to);
  } else if constexpr (kIsList<T>) {
    auto& list = Field::part(to);
    list.Reserve(static_cast<int>(from.size()));
    for (const auto& one : from) put(one, *list.Add());
  } else if constexpr (kMayBeAbsent<T>) {
    if (from) put_value<Field>(put, *from, to);
  } else if (PutsPlain<Put, T> || from != T{}) {
    put_value<Field>(put, from, to);
  }
}

// `get(value, to)` reads one value.
template <class Field, class Get, class T, class Message>
void get_field(const Get& get, const Message& from, T& to) {
  if constexpr (kStandsForValue<T>) {
    typename T::Value value;
    get_field<Field>(get, from, value);
    to = std::move(value);
  } else if constexpr (kIsList<T>) {
    to.reserve(static_cast<std::size_t>(Field::get(from).size()));
    for (const auto& one : Field::get(from)) get(one, to.emplace_back());
  } else if constexpr (kMayBeAbsent<T>) {
    if (Field::is_given(from)) get(Field::get(from), to.emplace());
  } else {
    get(Field::get(from), to);
  }
}

}  // namespace ares::proto
