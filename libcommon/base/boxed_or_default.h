// BoxedOrDefault<T>: a value on the heap that is mostly T{}. It is one pointer wide, reads as T{} while the pointer is null, and is
// copied and compared by value. base/boxed_vector.h and base/boxed_string.h read like the containers that they have.
// Owned by the value that it is a member of; any thread that may use that one.
#pragma once

#include <memory>
#include <utility>

namespace ares {

template <class T>
class BoxedOrDefault {
 public:
  using Value = T;

  BoxedOrDefault() = default;
  // A value that equals T{} takes no memory.
  BoxedOrDefault(T value)
      : value_(value == kDefault ? nullptr : std::make_unique<T>(std::move(value))) {}
  BoxedOrDefault(const BoxedOrDefault& other)
      : value_(other.is_default() ? nullptr : std::make_unique<T>(*other.value_)) {}
  BoxedOrDefault(BoxedOrDefault&&) noexcept = default;
  BoxedOrDefault& operator=(const BoxedOrDefault& other) {
    if (this != &other) value_ = other.is_default() ? nullptr : std::make_unique<T>(*other.value_);
    return *this;
  }
  BoxedOrDefault& operator=(BoxedOrDefault&&) noexcept = default;
  ~BoxedOrDefault() = default;

  const T& get() const { return value_ ? *value_ : kDefault; }
  operator const T&() const { return get(); }
  const T* operator->() const { return &get(); }
  // Allocates the value if it has none. The reference is valid until the next assignment or reset().
  T& edit() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_.reset(); }

  friend bool operator==(const BoxedOrDefault& a, const BoxedOrDefault& b) {
    return a.get() == b.get();
  }

 protected:
  // Null if there is none.
  T* value() { return value_.get(); }

 private:
  bool is_default() const { return !value_ || *value_ == kDefault; }

  static inline const T kDefault{};
  std::unique_ptr<T> value_;
};

}  // namespace ares
