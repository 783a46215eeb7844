#pragma once
// What the judge judges, and by what.

#include <filesystem>

#include "judge/build/source.hpp"
#include "judge/options.hpp"
#include "rungs/exam.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// A file that is judged as a rung. All but its path belongs to the caller and outlives the trial.
struct Trial {
    const Manifest& manifest;
    const RungEntry& rung;  ///< of `manifest`
    std::filesystem::path source;
    const Exam& exam;  ///< of the chapter
    const JudgeOptions& options;

    /// The workbook's own answer to `other`, a rung of the same chapter: its solution, or the given file.
    Trial reference(const RungEntry& other) const {
        return {manifest, other, source_of(manifest, other, options.toolchain.root, Whose::solution), exam,
                options};
    }
    Trial reference() const { return reference(rung); }

    Trial with(const JudgeOptions& other) const { return {manifest, rung, source, exam, other}; }
};

}  // namespace rungs::judge
