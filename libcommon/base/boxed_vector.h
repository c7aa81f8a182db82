// BoxedVector<T>: a vector for members that are seldom set, one pointer wide where std::vector has three. It is read and changed
// like the std::vector, and converts to it; edit() is the vector itself.
// Owned by the value that it is a member of; any thread that may use that one.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/boxed_or_default.h"

namespace ares {

template <class T>
class BoxedVector : public BoxedOrDefault<std::vector<T>> {
  using Box = BoxedOrDefault<std::vector<T>>;

 public:
  using value_type = T;
  using size_type = std::size_t;
  using iterator = typename std::vector<T>::iterator;
  using const_iterator = typename std::vector<T>::const_iterator;

  BoxedVector() = default;
  BoxedVector(std::vector<T> list) : Box(std::move(list)) {}
  BoxedVector(std::initializer_list<T> list) : Box(std::vector<T>(list)) {}

  bool empty() const { return this->get().empty(); }
  size_type size() const { return this->get().size(); }
  const_iterator begin() const { return this->get().begin(); }
  const_iterator end() const { return this->get().end(); }
  iterator begin() { return this->value() ? this->value()->begin() : iterator{}; }
  iterator end() { return this->value() ? this->value()->end() : iterator{}; }
  // Preconditions as for std::vector: the element exists.
  const T& operator[](size_type index) const { return this->get()[index]; }
  T& operator[](size_type index) { return (*this->value())[index]; }
  const T& front() const { return this->get().front(); }
  T& front() { return this->value()->front(); }
  const T& back() const { return this->get().back(); }
  T& back() { return this->value()->back(); }

  void push_back(T item) { this->edit().push_back(std::move(item)); }
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    return this->edit().emplace_back(std::forward<Arguments>(arguments)...);
  }
  void clear() { this->reset(); }

  friend bool operator==(const BoxedVector& a, const BoxedVector& b) { return a.get() == b.get(); }
  friend bool operator==(const BoxedVector& a, const std::vector<T>& b) { return a.get() == b; }
};

}  // namespace ares
