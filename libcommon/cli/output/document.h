// How a command prints all that it knows for programs: as JSON, or the same tree as YAML. The rows
// --json and --yaml of the commands' tables. Owned by a command's main thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.h"
#include "cli/output/yaml.h"

namespace ares::cli {

enum class DocumentForm { none, json, yaml };

// False: the command prints for people.
struct Document {
  DocumentForm form = DocumentForm::none;
  explicit operator bool() const { return form != DocumentForm::none; }
};

// Adds --json and --yaml. `json_help` says what the document has; `excludes` are options that
// contradict both.
void add_document_options(std::vector<Option>& options, Document& chosen,
                          const std::string& json_help,
                          const std::vector<std::string>& excludes = {});

// JSON text in the form that was chosen.
std::string in_form(const Document& chosen, std::string json);
// Prints it to standard output.
void print_document(const Document& chosen, std::string json);

// The same for a document that is made part by part.
class DocumentParts {
 public:
  explicit DocumentParts(const Document& chosen) : yaml_(chosen.form == DocumentForm::yaml) {}
  std::string put(std::string json);
  std::string finish();

 private:
  bool yaml_;
  YamlStream stream_;
};

}  // namespace ares::cli
