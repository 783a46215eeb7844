// Writes the rungs of a chapter as a table of calls: `rungs_entries chapters/01_reduction entries.cu`. What
// the worker has for one rung, for all of them.
#include <fstream>
#include <iostream>

#include "rungs/manifest.hpp"

namespace {

std::string table(const rungs::Manifest& manifest) {
    std::string rows;
    for (const rungs::RungEntry& rung : manifest.rungs) {
        for (const rungs::ProblemEntry& problem : manifest.problems) {
            if (!rung.solves(problem.name)) continue;
            const std::string type = manifest.name_space + "::" + problem.signature;
            const std::string launcher = manifest.name_space + "::" + rung.launcher();
            rows += "    {\"" + rung.name + "\", {\"" + problem.name +
                    "\", [](const rungs::Call& call) {\n         rungs::invoke(static_cast<" + type + "*>(" +
                    launcher + "), call);\n     }}},\n";
        }
    }
    return "// Generated from " + manifest.chapter + "/chapter.toml.\n#include \"" + manifest.contract +
           "\"\n#include \"ladder/entries.hpp\"\n\nstatic constexpr rungs::LadderEntry table[] = {\n" + rows +
           "};\n\nstd::span<const rungs::LadderEntry> rungs::ladder_entries() { return table; }\n\n"
           "std::vector<std::string> rungs::rungs_of_contract() {\n"
           "    std::vector<std::string> names;\n    for (const auto& rung : " +
           manifest.name_space + "::rungs) names.emplace_back(rung.name);\n    return names;\n}\n";
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: rungs_entries CHAPTER_FOLDER FILE\n";
        return 2;
    }
    try {
        const std::string text = table(rungs::read_manifest(arguments[1]));
        std::ofstream file(arguments[2]);
        file << text;
        if (!file.flush()) throw std::runtime_error(std::string(arguments[2]) + ": cannot be written");
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
