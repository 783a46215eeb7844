#include "judge/build/toolchain.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
    throw ToolchainError(file.string() + ": " + what + "; build again (./rungs demo, or cmake --build)");
}

template <class T>
T get(const fs::path& file, const json& object, const char* key) {
    if (!object.contains(key)) refuse(file, "the key '" + std::string(key) + "' is missing");
    try {
        return object.at(key).get<T>();
    } catch (const json::exception&) {
        refuse(file, "the value of '" + std::string(key) + "' has the wrong type");
    }
}

void must_exist(const fs::path& file, const fs::path& tool, const char* what) {
    std::error_code ignored;
    if (!tool.is_absolute() || !fs::is_regular_file(tool, ignored)) {
        refuse(file, std::string("the ") + what + " '" + tool.string() + "' does not exist");
    }
}

std::optional<BackendTools> read_tools(const fs::path& file, const json& root, const char* backend) {
    if (!root.contains(backend) || root.at(backend).is_null()) return std::nullopt;
    const json& object = root.at(backend);
    if (!object.is_object()) refuse(file, "'" + std::string(backend) + "' must be an object or null");
    BackendTools tools;
    if (object.contains("translator")) tools.translator = get<std::string>(file, object, "translator");
    if (object.contains("preludes")) tools.preludes = get<std::vector<std::string>>(file, object, "preludes");
    tools.compiler = get<std::string>(file, object, "compiler");
    tools.compile = get<std::vector<std::string>>(file, object, "compile");
    tools.archives = get<std::vector<std::string>>(file, object, "archives");
    tools.link = get<std::vector<std::string>>(file, object, "link");
    tools.describe = get<std::string>(file, object, "describe");
    must_exist(file, tools.compiler, "compiler");
    if (!tools.translator.empty()) must_exist(file, tools.translator, "translator");
    for (const std::string& prelude : tools.preludes) {
        must_exist(file, prelude + ".gch", "precompiled header");
        must_exist(file, prelude + ".d", "precompiled header's list of files");
    }
    for (const std::string& archive : tools.archives) must_exist(file, archive, "library");
    return tools;
}

}  // namespace

const BackendTools* Toolchain::tools(Backend backend, Mode mode) const {
    const auto& chosen = mode == Mode::check ? check : backend == Backend::cpu ? cpu : cuda;
    return chosen ? &*chosen : nullptr;
}

Toolchain read_toolchain(const fs::path& file) {
    std::ifstream in(file);
    if (!in) refuse(file, "cannot be read");
    json root;
    try {
        root = json::parse(in);
    } catch (const json::exception& error) {
        refuse(file, std::string("is no JSON: ") + error.what());
    }
    if (!root.is_object()) refuse(file, "must be a JSON object");
    Toolchain toolchain;
    toolchain.root = get<std::string>(file, root, "root");
    toolchain.build = get<std::string>(file, root, "build");
    toolchain.cache = get<std::string>(file, root, "cache");
    toolchain.cpu = read_tools(file, root, "cpu");
    toolchain.check = read_tools(file, root, "check");
    toolchain.cuda = read_tools(file, root, "cuda");
    return toolchain;
}

}  // namespace rungs::judge
