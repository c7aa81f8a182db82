#include "mpi/pmix/info_list.h"

#include <utility>

namespace ares::mpi::pmix {

Value& InfoList::add(std::string_view key, Type type) {
  Info& info = infos_.emplace_back();
  key.copy(info.key, kKeyBytes - 1);
  info.value.type = type;
  return info.value;
}

void InfoList::add_string(std::string_view key, std::string value) {
  strings_.push_back(std::make_unique<std::string>(std::move(value)));
  add(key, Type::string).string = strings_.back()->data();
}

void InfoList::add_boolean(std::string_view key, bool value) {
  add(key, Type::boolean).boolean = value;
}

void InfoList::add_uint16(std::string_view key, std::uint16_t value) {
  add(key, Type::uint16).uint16 = value;
}

void InfoList::add_uint32(std::string_view key, std::uint32_t value) {
  add(key, Type::uint32).uint32 = value;
}

void InfoList::add_rank(std::string_view key, std::uint32_t value) {
  add(key, Type::rank).uint32 = value;
}

// The form that needs no encoder, which all versions of the library read.
void InfoList::add_map(std::string_view key, const std::string& value) {
  strings_.push_back(std::make_unique<std::string>("raw:" + value));
  std::string& text = *strings_.back();
  add(key, Type::map).bytes = {text.data(), text.size() + 1};
}

void InfoList::add_array(std::string_view key, InfoList value) {
  lists_.push_back(std::make_unique<InfoList>(std::move(value)));
  InfoList& list = *lists_.back();
  arrays_.push_back(std::make_unique<Array>(Array{Type::info, list.size(), list.data()}));
  add(key, Type::array).array = arrays_.back().get();
}

}  // namespace ares::mpi::pmix
