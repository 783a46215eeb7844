#include "judge/build/edition.hpp"

namespace rungs::judge {

namespace fs = std::filesystem;

static fs::path edition_of(const fs::path& root) { return root / "edition"; }

bool is_edition(const fs::path& root) {
    std::error_code ignored;
    return fs::is_directory(edition_of(root), ignored);
}

fs::path edition_starter(const fs::path& root, const Manifest& manifest, const RungEntry& rung) {
    return edition_of(root) / "starters" / manifest.chapter / rung.file();
}

fs::path edition_counts(const fs::path& root, const Manifest& manifest, const RungEntry& rung) {
    return edition_of(root) / "counts" / manifest.chapter / (rung.name + ".json");
}

fs::path edition_worker(const fs::path& root, const Manifest& manifest, const RungEntry& rung) {
    return edition_of(root) / "workers" / manifest.chapter / rung.name;
}

}  // namespace rungs::judge
