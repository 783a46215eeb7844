// Every case of the corpus: the fault is found, where it is, in every order; the repaired twin has none.
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "check/tests/corpus/corpus.h"
#include "simt/inspect/control.h"
#include "testing/catch.h"

std::vector<corpus::Case>& corpus::cases() {
    static std::vector<Case> list;
    return list;
}

namespace {

/// The lines of `file` whose comment `bad:` names `name`, and those before that a statement began on.
std::set<unsigned> marked_lines(const char* file, const std::string& name) {
    std::set<unsigned> lines;
    std::ifstream in(std::string(CORPUS_FOLDER) + "/" + file);
    REQUIRE(in);
    std::string line;
    unsigned first = 1;  // line of the statement
    for (unsigned number = 1; std::getline(in, line); ++number) {
        const auto code = line.substr(0, line.find("//"));
        const auto last = code.find_last_not_of(' ');
        const bool ends = last == std::string::npos || std::strchr(";{}:", code[last]) != nullptr;
        const unsigned begin = first;
        if (ends) first = number + 1;
        const auto mark = line.find("// bad:");
        if (mark == std::string::npos) continue;
        std::istringstream words(line.substr(mark + 7));
        for (std::string word; words >> word;)
            if (word == name)
                for (unsigned l = begin; l <= number; ++l) lines.insert(l);
    }
    return lines;
}

/// Launches that fail are meant to: nothing is printed, and the device is usable again afterwards.
std::vector<simt::check::Finding> run(void (*function)(), std::uint64_t seed) {
    simt::set_quiet(true);
    simt::set_seed(seed);
    simt::check::clear();
    simt::check::watch_host(true);
    function();
    auto found = simt::check::findings();
    simt::check::watch_host(false);
    cudaDeviceReset();
    cudaGetLastError();
    simt::set_seed(0);
    simt::set_quiet(false);
    return found;
}

const char* file_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void check_case(const corpus::Case& c) {
    INFO("case " << c.name);
    const std::set<unsigned> lines = marked_lines(file_name(c.file), c.name);
    const bool has_line = std::strcmp(c.kind, "deadlock") != 0;
    REQUIRE(lines.empty() != has_line);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        INFO("seed " << seed);
        std::set<std::string> kinds;
        const auto found = run(c.faulty, seed);
        for (const auto& f : found) {
            INFO(simt::check::to_text(f));
            // A value that is read too early is missing as well as raced for.
            const bool follows =
                f.tool == simt::check::Tool::initcheck && std::strcmp(c.tool, "racecheck") == 0;
            if (!follows) {
                CHECK(std::string(to_string(f.tool)) == c.tool);
                CHECK(std::string(c.kind).find(f.kind) != std::string::npos);
                CHECK(f.array == c.array);
            }
            if (has_line) {
                CHECK(f.side.place.file == file_name(c.file));
                CHECK(lines.count(f.side.place.line) == 1);
                if (f.has_other) CHECK(lines.count(f.other.place.line) == 1);
            }
            CHECK(f.count > 0);
            CHECK_FALSE(f.message.empty());
            CHECK_FALSE(f.advice.empty());
            if (!follows) kinds.insert(f.kind);
        }
        std::istringstream expected(c.kind);
        for (std::string kind; expected >> kind;) CHECK(kinds.count(kind) == 1);
        std::string texts;
        for (const auto& f : run(c.repaired, seed)) texts += simt::check::to_text(f);
        CHECK(texts == "");
    }
}

void check_tool(const char* tool, std::size_t at_least) {
    std::size_t count = 0;
    for (const corpus::Case& c : corpus::cases()) {
        if (std::strcmp(c.tool, tool) != 0) continue;
        ++count;
        check_case(c);
    }
    CHECK(count >= at_least);
}

}  // namespace

// Each fault a kernel can have here, and the same kernel without it, in ten orders.
TEST_CASE("memcheck finds what is there and nothing else", "[simt][check][memcheck]") {
    check_tool("memcheck", 55);
}
TEST_CASE("racecheck finds what is there and nothing else", "[simt][check][racecheck]") {
    check_tool("racecheck", 47);
}
TEST_CASE("initcheck finds what is there and nothing else", "[simt][check][initcheck]") {
    check_tool("initcheck", 20);
}
TEST_CASE("synccheck finds what is there and nothing else", "[simt][check][synccheck]") {
    check_tool("synccheck", 11);
}
