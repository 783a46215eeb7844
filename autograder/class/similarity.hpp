#pragma once
// Which hand-ins of a class look alike, and which look like the solution: found by the similarity tester of
// Dick Grune, a package, and told to a human. No verdict and no point depends on it.
//
// What a hand-in shares with the starter is everybody's and does not count. The rest is compared twice: as
// words, in which comments and names count, and as structure, in which neither does. Small exercises have few
// right answers, so what is usual among all pairs of a rung is told beside what is unusual.

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "class/record.hpp"
#include "judge/build/toolchain.hpp"

namespace rungs::classroom {

/// A part of two files that is alike: lines from and to, in each.
struct AlikeLines {
    int first = 0, last = 0, other_first = 0, other_last = 0;
};

/// Two hand-ins of a rung that share much.
struct AlikePair {
    std::string student, other;  ///< ids; an empty `other` is the workbook's solution
    double words = 0,
           structure = 0;           ///< of the shorter one's own text, the share that the other one has, too
    std::vector<AlikeLines> lines;  ///< by structure, the first `most_lines`
    static constexpr std::size_t most_lines = 20;
};

/// What was found of one rung.
struct RungSimilarity {
    AskedRung asked;
    std::size_t hand_ins = 0;                     ///< that were compared, equal ones once
    std::size_t untouched = 0;                    ///< that have next to nothing of their own
    double usual_words = 0, usual_structure = 0;  ///< of all pairs of hand-ins, the median
    std::vector<std::vector<std::string>> equal;  ///< ids of those whose own text is the same but for blanks
    std::vector<AlikePair> pairs;                 ///< what is most unusual first
    std::size_t more = 0;                         ///< pairs that are left out: too many
};

/// Compares what counts of each student, rung by rung; of members of one group, the one hand-in that they
/// have.
/// @param tell  is called with each rung before it is compared
/// @throws ClassError where the package is missing, InfraError, Stopped
std::vector<RungSimilarity> find_similar(const Gradebook& book, const judge::Toolchain& toolchain,
                                         const std::atomic<bool>* stop,
                                         const std::function<void(const AskedRung&)>& tell);

/// Schema rungs.similarity/1: docs/exports.md.
nlohmann::ordered_json to_json(const std::vector<RungSimilarity>& rungs);

/// "12-20 = 31-39, 25 = 44"
std::string lines_text(const std::vector<AlikeLines>& lines);

}  // namespace rungs::classroom
