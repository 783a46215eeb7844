#include "judge/result/launch_kinds.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/object_gate.hpp"

namespace rungs::judge {
namespace {

constexpr std::size_t most_kinds = 1000;  ///< of a rung; the references have 30
constexpr std::string_view start_of_program = "__executable_start";

/// The words of a line of `nm -P`: name, type, value, size.
std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        if (end > begin) words.push_back(line.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// The functions that begin at some of `distances` from the beginning of a program.
std::map<std::uint64_t, std::string> functions_at(const std::set<std::uint64_t>& distances,
                                                  std::string_view symbols) {
    std::vector<std::pair<std::uint64_t, std::string_view>> functions;
    std::uint64_t start = 0;
    for (std::size_t begin = 0, end; begin < symbols.size(); begin = end + 1) {
        end = std::min(symbols.find('\n', begin), symbols.size());
        const auto words = words_of(symbols.substr(begin, end - begin));
        std::uint64_t value = 0;
        if (words.size() < 3 || words[1].size() != 1 ||
            std::from_chars(words[2].data(), words[2].data() + words[2].size(), value, 16).ec != std::errc())
            continue;
        if (words[0] == start_of_program) start = value;
        if (std::string_view("TtWw").find(words[1][0]) != std::string_view::npos)
            functions.emplace_back(value, words[0]);
    }
    std::map<std::uint64_t, std::string> found;
    for (const auto& [value, name] : functions) {
        if (!distances.contains(value - start)) continue;
        std::string& known = found[value - start];
        if (known.empty() || name < known) known = name;  // one function may have several names
    }
    return found;
}

/// "reduction::launch" of "N9reduction6launchEv", or "launch" of "6launchEv".
std::string function_name(std::string_view mangled) {
    const bool nested = mangled.starts_with('N');
    mangled.remove_prefix(std::min(mangled.find_first_not_of("NLK"), mangled.size()));
    std::string name;
    std::size_t size = 0;
    for (bool more = true; more; more = nested) {
        const auto [end, failed] = std::from_chars(mangled.data(), mangled.data() + mangled.size(), size);
        if (failed != std::errc()) break;
        mangled.remove_prefix(static_cast<std::size_t>(end - mangled.data()));
        name += (name.empty() ? "" : "::") + std::string(mangled.substr(0, size));
        mangled.remove_prefix(std::min(size, mangled.size()));
    }
    return name;
}

}  // namespace

void LaunchKinds::note(const protocol::Reply& reply, const Case& which) {
    if (too_many_) return;
    const std::size_t count = std::min<std::size_t>(reply.kinds, protocol::max_launch_kinds);
    for (std::size_t i = 0; i < count; ++i) first_.try_emplace(reply.kind[i], which);
    too_many_ = reply.kinds > protocol::max_launch_kinds || first_.size() > most_kinds;
}

std::map<std::string, Case> LaunchKinds::named(const std::filesystem::path& executable,
                                               const std::atomic<bool>* stop) const {
    std::map<std::string, Case> named;
    if (first_.empty()) return named;
    std::set<std::uint64_t> distances;
    for (const auto& [kind, which] : first_)
        distances.insert({kind.loop, kind.kernel, kind.pointers[0], kind.pointers[1]});
    const std::map<std::uint64_t, std::string> functions =
        functions_at(distances, run_binutil({"nm", "--plugin=/dev/null", "-P", executable.string()}, stop));
    const auto name = [&](std::uint64_t distance) {
        const auto found = functions.find(distance);
        return distance == 0 || found == functions.end() ? std::string("-") : found->second;
    };
    for (const auto& [kind, which] : first_) {
        named.try_emplace(fmt::format("{} {} {} {} {}x{}x{} {}", name(kind.loop), name(kind.kernel),
                                      name(kind.pointers[0]), name(kind.pointers[1]), kind.block[0],
                                      kind.block[1], kind.block[2], kind.shared_bits),
                          which);
    }
    return named;
}

std::string kernel_of(const std::string& name) {
    const auto words = words_of(name);
    if (words.size() != 6) return "?";
    for (std::size_t i = 1; i < 4; ++i) {
        if (words[i] == "-") continue;
        const std::string kernel = demangle(std::string(words[i]));
        return fmt::format("{} with blocks of {} threads", kernel.substr(0, kernel.find('(')), words[4]);
    }
    // The function in which the launch is written: simt::Body<f()::{lambda...}...>. Such names are too full
    // of references to be spelled out.
    constexpr std::string_view before = "BodyIZ";
    const std::size_t at = words[0].find(before);
    std::string place =
        at == std::string_view::npos ? "" : function_name(words[0].substr(at + before.size()));
    return fmt::format("a launch{}{} with blocks of {} threads", place.empty() ? "" : " in ", place,
                       words[4]);
}

}  // namespace rungs::judge
