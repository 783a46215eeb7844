#pragma once
// What a test needs to have the judge judge rungs.

#include <filesystem>
#include <memory>
#include <string>

#include "judge/build/source.hpp"
#include "judge/judge.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

namespace rungs::judge {

/// `text` with the first `what`, which must be there, turned into `with`.
inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    INFO("'" << what << "' must stand in " << text);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), with);
}

/// The attack of that name: a whole program, or a rung.
inline std::filesystem::path attack(const std::string& name) {
    return std::filesystem::path(RUNGS_ROOT) / "autograder" / "attacks" / (name + ".cu");
}

/// Judges files as one rung, with the tools of the build under test and always the same seed.
struct Court {
    explicit Court(const std::string& rung_name = "03_shared_tree",
                   const std::string& chapter = "01_reduction")
        : manifest(read_manifest(std::filesystem::path(RUNGS_ROOT) / "chapters" / chapter)),
          name(rung_name),
          exam(exam_of(manifest)) {
        options.toolchain = read_toolchain(std::filesystem::path(RUNGS_BUILD) / "toolchain.json");
        options.seed = 42;
    }

    const RungEntry& rung() const { return *manifest.find(name); }
    std::filesystem::path solution() const {
        return source_of(manifest, rung(), RUNGS_ROOT, Whose::solution);
    }
    Trial trial(const std::filesystem::path& source) const {
        return {manifest, rung(), source, *exam, options};
    }
    RungResult judge(const std::filesystem::path& source) const { return judge_rung(trial(source)); }
    /// Judges `text` as the rung.
    RungResult judge_text(const std::string& text) const { return judge(folder.write(name + ".cu", text)); }

    Manifest manifest;
    std::string name;
    std::unique_ptr<Exam> exam;
    JudgeOptions options;
    TemporaryFolder folder;
};

}  // namespace rungs::judge
