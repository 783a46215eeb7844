#include "cases/slice.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <utility>

#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

constexpr std::uint64_t slices = 8;

/// FNV-1a, and a last mixing step: its low bits alone tell short texts apart badly.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93ULL;
    return hash ^ (hash >> 32);
}

bool is_input(const std::string& changed, const std::string& input) {
    return changed == input || changed.rfind(input + "/", 0) == 0;
}

/// One line, which another process's may follow but not divide.
void append_line(const std::string& path, const std::string& line) {
    const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return;  // the summary is missing then, and no verdict depends on it
    [[maybe_unused]] const ssize_t written = write(file, line.data(), line.size());
    close(file);
}

}  // namespace

Slice::Slice(std::string_view key, std::set<std::string> changed)
    : whole_(false), key_(hash_of(key)), changed_(std::move(changed)) {}

Slice Slice::of_environment() {
    const char* const path = std::getenv("RUNGS_SLICE");
    if (!path || !*path) return {};
    std::istringstream lines(read_file(path));
    std::string key, line;
    std::getline(lines, key);
    std::set<std::string> changed;
    while (std::getline(lines, line)) {
        if (!line.empty()) changed.insert(line);
    }
    Slice slice(key, std::move(changed));
    slice.report_ = std::string(path) + ".tried";
    return slice;
}

std::vector<bool> Slice::choose(std::string_view kind, const std::vector<Case>& cases) const {
    if (whole_ || cases.empty()) return std::vector<bool>(cases.size(), true);
    std::vector<bool> chosen(cases.size());
    std::vector<std::pair<std::uint64_t, std::size_t>> changed;  // in an order that the key decides
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::uint64_t hash = hash_of(std::string(kind) + '\n' + cases[i].name);
        chosen[i] = hash % slices == key_ % slices;
        const auto has_changed = [&](const std::string& input) {
            return std::any_of(changed_.begin(), changed_.end(),
                               [&](const std::string& one) { return is_input(one, input); });
        };
        const bool differs = has_changed(cases[i].name) ||
                             std::any_of(cases[i].inputs.begin(), cases[i].inputs.end(), has_changed);
        if (!chosen[i] && differs) changed.emplace_back(hash ^ key_, i);
    }
    std::sort(changed.begin(), changed.end());
    const std::size_t most = std::max<std::size_t>(1, cases.size() / slices);
    for (std::size_t i = 0; i < std::min(most, changed.size()); ++i) chosen[changed[i].second] = true;
    if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) chosen[key_ % cases.size()] = true;
    if (!report_.empty()) {
        const auto tried = std::count(chosen.begin(), chosen.end(), true);
        append_line(report_, std::string(kind) + ": " + std::to_string(tried) + " of " +
                                 std::to_string(cases.size()) + "\n");
    }
    return chosen;
}

}  // namespace rungs
