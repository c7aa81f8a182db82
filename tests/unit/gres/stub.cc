#include "unit/gres/stub.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ares::gres {

namespace fs = std::filesystem;

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "ares-gres-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}
Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}
void Folder::write(const std::string& path, const std::string& text) const {
  const fs::path file = path_ + "/" + path;
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}
void Folder::link(const std::string& path, const std::string& target) const {
  const fs::path file = path_ + "/" + path;
  fs::create_directories(file.parent_path());
  fs::create_symlink(target, file);
}

Result<FoundMachine> found_by_nvml(const std::string& json, const std::string& stub,
                                   const std::string& library, const std::string& root) {
  const Folder folder;
  const std::size_t end = json.rfind('}');
  folder.write("machine.json",
               json.substr(0, end) + ", \"stub\": {" + stub + "}" + json.substr(end));
  ::setenv("ARES_NVML_STUB", (folder.path() + "/machine.json").c_str(), 1);
  return nvml::discover({library, root});
}

std::string machine_json(unsigned count, const std::string& link) {
  std::string gpus, links;
  for (unsigned a = 0; a < count; ++a) {
    const std::string number = std::to_string(a);
    gpus += std::string(a > 0 ? "," : "") + R"({"index": )" + number +
            R"(, "name": "NVIDIA A100-SXM4-80GB", "uuid": "GPU-)" + number +
            R"(", "memory_bytes": 85899345920, "bus_id": "0000:)" + std::to_string(10 + a) +
            R"(:00.0", "minor": )" + std::to_string(count - 1 - a) + R"(, "cpus": ")" +
            std::to_string(4 * a) + "-" + std::to_string(4 * a + 3) + R"(", "numa": ")" +
            std::to_string(a / 2) + "\"}";
    links += a > 0 ? ",[" : "[";
    for (unsigned b = 0; b < count; ++b)
      links += std::string(b > 0 ? "," : "") + "\"" + (a == b ? "X" : link) + "\"";
    links += "]";
  }
  return R"({"format": 1, "gpus": [)" + gpus + R"(], "links": [)" + links + "]}";
}

}  // namespace ares::gres
