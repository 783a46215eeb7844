#pragma once
// A small class, graded by the real program.

#include <filesystem>
#include <string>
#include <vector>

#include "program_fixture.hpp"
#include "rungs/catch.hpp"

namespace rungs::test {

namespace fs = std::filesystem;

/// Ada is right, ben has handed in the starter, cleo's file does not compile, dan has
/// ada's bytes, eve nothing.
struct GradedClass : SmallWorkbook {
    GradedClass() {
        folder.write("class/ada/03_shared_tree.cu", solution);
        folder.write("class/ben/01_reduction/03_shared_tree.cu", starter);
        folder.write("class/cleo@2026-11-22T00:00:00Z/03_shared_tree.cu", "int x\n");
        folder.write("class/dan@2026-11-20T01:00:00Z/03_shared_tree.cu", solution);
        folder.write("class/roster.csv", "id,name\nada,Ada\nben,Ben\ncleo,Cleo\ndan,Dan\neve,Eve\n");
        folder.write(
            "class/assignment.toml",
            "title = \"Sums\"\ndue = 2026-11-20T00:00:00Z\nroster = \"roster.csv\"\nleast_sandbox = \"S0\"\n"
            "[late]\npercent_per_day = 20\nmost_days = 2\n");
    }

    std::vector<std::string> grade(const std::string& out, std::vector<std::string> more = {}) const {
        std::vector<std::string> words{"grade", "class", "--out", out};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    Outcome graded(const std::string& out, std::vector<std::string> more = {}) const {
        return run(grade(out, more));
    }

    std::string record(const std::string& out, const std::string& who, int judging = 1) const {
        return folder.read(out + "/records/" + who + "/1/01_reduction/03_shared_tree." +
                           std::to_string(judging) + ".json");
    }

    /// More students, each with bytes of their own.
    void fill(int students) const {
        for (int i = 0; i < students; ++i) {
            folder.write("class/roster.csv",
                         folder.read("class/roster.csv") + "s" + std::to_string(i) + ",S\n");
            folder.write("class/s" + std::to_string(i) + "/03_shared_tree.cu",
                         (i % 2 ? solution : starter) + "// " + std::to_string(i) + "\n");
        }
    }
};

inline int count_records(const fs::path& out) {
    int count = 0;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(out / "records", none)) {
        if (entry.path().extension() != ".json" || entry.path().filename().string().front() == '.') continue;
        ++count;
        // Whole or not there.
        CHECK(nlohmann::json::accept(TemporaryFolder::content_of(entry.path())));
    }
    return count;
}

}  // namespace rungs::test
