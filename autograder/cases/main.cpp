// rungs_cases: has listed mistakes judged, and compares verdict and words with what they must be.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cases/mistakes.hpp"
#include "judge/build/toolchain.hpp"
#include "rungs/manifest.hpp"
#include "rungs/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rungs;

struct Options {
    std::vector<std::string> words;
    std::string chapter;
    bool names = false;
};

/// How many there were of each outcome.
struct Count {
    std::atomic<int> wrong{0}, ours{0};
};

/// Judges one mistake, and prints what became of it.
void try_one(const Mistake& mistake, const Manifest& manifest, Count& count) {
    static std::mutex printing;
    std::string line;
    try {
        judge::JudgeOptions options;
        options.toolchain = judge::read_toolchain(fs::path(RUNGS_BUILD) / "toolchain.json");
        options.seed = 42;
        const TemporaryFolder folder;
        const judge::RungResult result = judge::judge_rung(
            {manifest, *manifest.find(mistake.rung), folder.write(mistake.rung + ".cu", mistake.source),
             *judge::exam_of(manifest), options});
        const std::string fault = fault_of(mistake, result);
        if (!fault.empty()) ++count.wrong;
        line = fmt::format("{:<4} {}: {}\n", fault.empty() ? "ok" : "FAIL", mistake.title(),
                           fault.empty() ? name_of(result.verdict) : fault);
    } catch (const std::exception& error) {
        ++count.ours;
        line = fmt::format("FAIL {}: {}\n", mistake.title(), error.what());
    }
    const std::lock_guard lock(printing);
    fmt::print("{}", line);
    std::fflush(stdout);
}

bool is_asked_for(const Mistake& mistake, const std::vector<std::string>& words) {
    const std::string title = mistake.title() + " " + mistake.chapter + "/" + mistake.rung;
    return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
               return title.find(word) != std::string::npos;
           });
}

int run(const Options& options) {
    std::vector<Mistake> all;
    std::vector<std::unique_ptr<Manifest>> manifests;
    std::vector<std::size_t> chapter_of;
    for (Manifest& manifest : read_manifests(fs::path(RUNGS_ROOT) / "chapters")) {
        if (!options.chapter.empty() && manifest.chapter != options.chapter) continue;
        std::vector<Mistake> mistakes = read_mistakes(RUNGS_ROOT, manifest.chapter);
        // What is asked for by name is tried whatever the slice.
        if (options.words.empty() && !options.names)
            mistakes = in_slice(std::move(mistakes), manifest.chapter, Slice::of_environment());
        std::erase_if(mistakes, [&](const Mistake& one) { return !is_asked_for(one, options.words); });
        for (const Mistake& mistake : mistakes) {
            if (!manifest.find(mistake.rung))
                throw std::runtime_error(mistake.title() + ": chapter.toml has no rung " + mistake.rung);
        }
        chapter_of.insert(chapter_of.end(), mistakes.size(), manifests.size());
        all.insert(all.end(), std::make_move_iterator(mistakes.begin()),
                   std::make_move_iterator(mistakes.end()));
        manifests.push_back(std::make_unique<Manifest>(std::move(manifest)));
    }
    if (all.empty()) {
        fmt::print(stderr, "rungs_cases: no listed mistake is called that\n");
        return 2;
    }
    if (options.names) {
        for (const Mistake& mistake : all) fmt::print("{}: {}\n", mistake.title(), mistake.verdict);
        return 0;
    }
    Count count;
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> judges;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
        judges.emplace_back([&] {
            for (std::size_t at; (at = next++) < all.size();)
                try_one(all[at], *manifests[chapter_of[at]], count);
        });
    }
    for (std::thread& judge : judges) judge.join();
    const auto failed = static_cast<std::size_t>(count.wrong + count.ours);
    fmt::print("mistakes {}, as expected {}\n", all.size(), all.size() - failed);
    return count.wrong != 0 ? 1 : count.ours != 0 ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Has listed mistakes judged, and compares verdict and words with what they must be",
                 "rungs_cases");
    Options options;
    app.add_option("words", options.words,
                   "Those whose rung (01/02) or name has one of the words; without, all")
        ->type_name("WORD");
    app.add_option("--chapter", options.chapter, "Those of one chapter, as 01_reduction")->type_name("NAME");
    app.add_flag("--names", options.names, "Name them alone");
    app.footer(
        "Exit status: 0 all as expected, 1 not, 2 wrong use, or no mistake is called that, 3 "
        "could not judge.");
    try {
        app.parse(argc, argv);
        return run(options);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "rungs_cases: {}\n", error.what());
        return 3;
    }
}
