#include "cli/output/document.h"

#include <cstdio>

namespace ares::cli {

void add_document_options(std::vector<Option>& options, Document& chosen,
                          const std::string& json_help, const std::vector<std::string>& excludes) {
  const auto add = [&](const char* name, const std::string& help, DocumentForm form) {
    Option row{0, name, "", help, [&chosen, form](const std::string&) -> Status {
                 chosen.form = form;
                 return {};
               }};
    row.excludes = excludes;
    if (form == DocumentForm::yaml) row.excludes.push_back("json");
    options.push_back(std::move(row));
  };
  add("json", json_help, DocumentForm::json);
  add("yaml", "The same document as with --json, as YAML.", DocumentForm::yaml);
}

std::string in_form(const Document& chosen, std::string json) {
  return chosen.form == DocumentForm::yaml ? to_yaml(json) : json;
}

void print_document(const Document& chosen, std::string json) {
  const std::string text = in_form(chosen, std::move(json));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string DocumentParts::put(std::string json) {
  return yaml_ ? stream_.put(json) : json;
}

std::string DocumentParts::finish() {
  return yaml_ ? stream_.finish() : std::string();
}

}  // namespace ares::cli
