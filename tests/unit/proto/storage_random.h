// Random values for every stored type: each field, each length, all bytes in texts. Reproducible
// from a seed. Test code; one thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "unit/proto/storage_fields.h"

namespace ares::testing {

class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : engine_(seed) {}

  template <class T>
  T make() {
    T value{};
    fill(value);
    return value;
  }

  // The event at this position in the variant.
  EventBody make_event(std::size_t index) { return nth_event<0>(index); }

  std::uint64_t bits() { return engine_(); }
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

  void fill(bool& value) { value = below(2) == 1; }

  template <class T>
  requires(std::integral<T> && !std::same_as<T, bool>) void fill(T& value) {
    // Small and huge numbers; every bit of the type is used.
    value = static_cast<T>(bits() >> below(sizeof(T) * 8));
  }

  template <class T>
  requires std::is_enum_v<T>
  void fill(T& value) { value = static_cast<T>(below(static_cast<std::uint64_t>(last(T{})) + 1)); }

  void fill(std::string& value) {
    value.resize(below(6) == 0 ? 0 : below(24));
    for (char& c : value) c = static_cast<char>(bits());
  }

  void fill(WarningSignal& value) {  // stored as a text
    value = {static_cast<std::int32_t>(1 + below(64)), Seconds(below(65536)), below(2) == 1};
  }

  void fill(GpuTopology& value) {
    std::string text;
    fill(text);
    value = GpuTopology(std::move(text));
  }

  template <class Tag, class Rep>
  void fill(Id<Tag, Rep>& value) {
    Rep number{};
    fill(number);
    value = Id<Tag, Rep>(number);
  }

  void fill(TaskIndex& value) {
    if (below(2) == 1) fill(value.value);
  }

  void fill(Bytes& value) {
    std::int64_t count{};
    fill(count);
    value = Bytes(count);
  }

  template <class Rep, class Period>
  void fill(std::chrono::duration<Rep, Period>& value) {
    // Within the bounds of the API (below 2^40 seconds), so that a sum with a Time does not overflow.
    value = std::chrono::duration<Rep, Period>(static_cast<Rep>(bits()) >> 23);
  }

  void fill(Time& value) { value = Time{Duration(static_cast<std::int64_t>(bits() >> 12))}; }

  void fill(IntervalSet& value) {
    for (auto n = below(4); n > 0; --n) {
      const auto first = static_cast<std::uint32_t>(below(1000));
      value.insert(first, first + static_cast<std::uint32_t>(below(20)));
    }
  }

  template <class T, std::size_t N>
  void fill(std::array<T, N>& value) {
    for (auto& item : value) fill(item);
  }

  template <class T>
  void fill(std::vector<T>& value) {
    value.resize(below(4));
    for (auto& item : value) fill(item);
  }

  void fill(NodeShares& value) {
    std::vector<NodeShare> shares;
    fill(shares);
    value = NodeShares(std::move(shares));
  }

  template <class K, class V>
  void fill(std::map<K, V>& value) {
    for (auto n = below(4); n > 0; --n) value[make<K>()] = make<V>();
  }

  template <class T>
  void fill(std::optional<T>& value) {
    if (below(4) != 0) fill(value.emplace());
  }

  template <class T>
  void fill(Boxed<T>& value) {
    if (below(4) != 0) fill(value.emplace());
  }

  template <class T>
  void fill(BoxedOrDefault<T>& value) {
    fill(value.edit());
  }

  template <class T>
  void fill(std::shared_ptr<const T>& value) {
    value = std::make_shared<const T>(make<T>());
  }

  void fill(AccountingRecord& value) {
    value = nth_record<0>(below(std::variant_size_v<AccountingRecord>));
  }

  template <class T>
  requires(Fields<T>::known) void fill(T& value) {
    std::apply([&](auto&... field) { (fill(field), ...); }, Fields<T>::tie(value));
  }

 private:
  static constexpr JobState last(JobState) { return JobState::deadline; }
  static constexpr Reason last(Reason) { return kLastReason; }
  static constexpr Hold last(Hold) { return Hold::admin; }
  static constexpr DependencyKind last(DependencyKind) { return kLastDependencyKind; }
  static constexpr OpenMode last(OpenMode) { return OpenMode::append; }
  static constexpr SharePhase last(SharePhase) { return SharePhase::fenced; }
  static constexpr AdminState last(AdminState) { return kLastAdminState; }
  static constexpr LaunchBlame last(LaunchBlame) { return kLastLaunchBlame; }
  static constexpr AfterReboot last(AfterReboot) { return kLastAfterReboot; }
  static constexpr Recurrence last(Recurrence) { return kLastRecurrence; }
  static constexpr PlacementStrategy last(PlacementStrategy) { return kLastPlacementStrategy; }
  static constexpr PreemptMode last(PreemptMode) { return kLastPreemptMode; }
  static constexpr GpuShape last(GpuShape) { return kLastGpuShape; }
  static constexpr GpusPer last(GpusPer) { return kLastGpusPer; }
  static constexpr Contact last(Contact) { return Contact::lost; }
  static constexpr LimitKind last(LimitKind) { return kLastLimitKind; }
  static constexpr RecordKind last(RecordKind) { return RecordKind::wckey; }
  static constexpr StepState last(StepState) { return kLastStepState; }
  static constexpr ErrorCode last(ErrorCode) { return ErrorCode::internal; }

  template <std::size_t I>
  EventBody nth_event(std::size_t index) {
    if constexpr (I + 1 < std::variant_size_v<EventBody>) {
      if (index != I) return nth_event<I + 1>(index);
    }
    return make<std::variant_alternative_t<I, EventBody>>();
  }

  template <std::size_t I>
  AccountingRecord nth_record(std::uint64_t index) {
    if constexpr (I + 1 < std::variant_size_v<AccountingRecord>) {
      if (index != I) return nth_record<I + 1>(index);
    }
    return make<std::variant_alternative_t<I, AccountingRecord>>();
  }

  std::mt19937_64 engine_;
};

// Equal in every field; specifications are compared by value.
template <class T>
bool same(const T& a, const T& b);
template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b);
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b);
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b);

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (Fields<T>::known) {
    return std::apply(
        [&](const auto&... x) {
          return std::apply([&](const auto&... y) { return (same(x, y) && ...); },
                            Fields<T>::tie(b));
        },
        Fields<T>::tie(a));
  } else {
    return a == b;
  }
}
template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a && b ? same(*a, *b) : a == b;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? same(*a, *b) : a.has_value() == b.has_value();
}
inline bool same(const EventBody& a, const EventBody& b) {
  return a.index() == b.index() && std::visit(
                                       [&](const auto& x) {
                                         using T = std::decay_t<decltype(x)>;
                                         return same(x, std::get<T>(b));
                                       },
                                       a);
}

}  // namespace ares::testing
