#include "judge/source.hpp"

namespace rungs::judge {

std::filesystem::path source_of(const Manifest& manifest, const RungEntry& rung,
                                const std::filesystem::path& root, Whose whose,
                                const std::filesystem::path& submission) {
    const std::string file = rung.name + ".cu";
    if (rung.given()) return root / "chapters" / manifest.chapter / file;
    if (!submission.empty()) {
        const auto nested = submission / manifest.chapter / file;
        std::error_code ignored;
        return std::filesystem::exists(nested, ignored) ? nested : submission / file;
    }
    return root / (whose == Whose::solution ? "solutions" : "chapters") / manifest.chapter / file;
}

}  // namespace rungs::judge
