#include "package/leaks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t least_line = 12;  ///< letters without blanks; shorter ones are everybody's
constexpr std::size_t least_run = 60;   ///< of all lines of a run
constexpr std::size_t least_lines = 2;
constexpr std::size_t most_apart = 3;  ///< lines from one of a run to the next

struct Line {
    unsigned number = 0;
    std::string code;  ///< without comment and blanks
};

std::string code_of(const std::string& line) {
    std::string code = line.substr(0, line.find("//"));
    code.erase(std::remove_if(code.begin(), code.end(), [](unsigned char c) { return std::isspace(c); }),
               code.end());
    return code;
}

std::vector<std::string> code_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(code_of(line));
    return lines;
}

/// The lines of a solution's regions that are not `given`.
std::vector<Line> own_lines(const std::string& text, const std::set<std::string>& given) {
    std::vector<Line> own;
    bool inside = false;
    unsigned number = 0;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (line.find("// BEGIN SOLUTION") != std::string::npos) inside = true;
        if (line.find("// END SOLUTION") != std::string::npos) inside = false;
        std::string code = code_of(line);
        if (inside && code.size() >= least_line && !given.count(code))
            own.push_back({number, std::move(code)});
    }
    return own;
}

/// Whether a student is given the file to write in or to include: chapters/01_reduction/*.cu and .cuh.
bool is_given(const fs::path& file) {
    const auto depth = std::distance(file.begin(), file.end());
    return depth == 3 && *file.begin() == "chapters" &&
           (file.extension() == ".cu" || file.extension() == ".cuh");
}

/// The most of `own`, from `first` on, that follows in `lines` from `at` on.
std::size_t run_length(const std::vector<Line>& own, std::size_t first, const std::vector<std::string>& lines,
                       std::size_t at) {
    std::size_t count = 1;
    while (first + count < own.size()) {
        const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        const auto end = begin + std::min<std::ptrdiff_t>(most_apart, lines.end() - begin);
        const auto next = std::find(begin, end, own[first + count].code);
        if (next == end) break;
        at = static_cast<std::size_t>(next - lines.begin());
        ++count;
    }
    return count;
}

}  // namespace

std::vector<Leak> find_leaks(const std::vector<SolutionText>& solutions, const fs::path& tree) {
    std::map<std::string, std::vector<std::string>> files;
    std::set<std::string> given;
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
        if (!entry.is_regular_file()) continue;
        const fs::path file = entry.path().lexically_relative(tree);
        std::vector<std::string> lines = code_lines(read_file(entry.path()));
        if (is_given(file)) given.insert(lines.begin(), lines.end());
        files[file.string()] = std::move(lines);
    }
    std::vector<Leak> leaks;
    for (const SolutionText& solution : solutions) {
        const std::vector<Line> own = own_lines(solution.text, given);
        std::map<std::string, std::vector<std::size_t>> places;
        for (std::size_t i = 0; i < own.size(); ++i) places[own[i].code].push_back(i);
        for (const auto& [file, lines] : files) {
            for (std::size_t at = 0; at < lines.size(); ++at) {
                const auto place = places.find(lines[at]);
                if (place == places.end()) continue;
                std::size_t longest = 0;
                for (const std::size_t first : place->second) {
                    const std::size_t count = run_length(own, first, lines, at);
                    std::size_t letters = 0;
                    for (std::size_t i = first; i < first + count; ++i) letters += own[i].code.size();
                    if (count < least_lines || letters < least_run || count <= longest) continue;
                    if (longest > 0) leaks.pop_back();
                    longest = count;
                    leaks.push_back({solution.name, own[first].number, file, static_cast<unsigned>(at + 1)});
                }
                at += longest > 0 ? longest - 1 : 0;
            }
        }
    }
    return leaks;
}

}  // namespace rungs
