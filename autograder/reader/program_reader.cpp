// Reads the debug information of a program that a student's code is part of. The judge runs it held
// like a worker (judge/confine/held_reader.hpp).
//   rungs_program_reader columns      of the places in what addr2line has printed
//   rungs_program_reader lines NAME   of the source called NAME, each followed by whether one of the blocks
//                                     whose addresses are asked for, in hexadecimal digits, belongs to it
// Descriptors: 3 the program, 4 the question, 5 memory for the answer, whose count of numbers comes first;
// what does not fit is left out.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/inspect/columns.h"

namespace {

constexpr int program_file = 3, question_file = 4, answer_file = 5;

std::string question() {
    std::string text;
    static char buffer[1 << 16];
    for (ssize_t got = 0; (got = read(question_file, buffer, sizeof buffer)) != 0;) {
        if (got < 0) throw std::runtime_error("the question cannot be read");
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

std::vector<std::uint32_t> numbers_of(const std::string& what, const std::string& name) {
    const simt::check::ProgramFile program(program_file);
    if (what == "columns") return simt::check::columns_of(program, question());
    if (what != "lines") throw std::invalid_argument("nobody can read '" + what + "'");
    std::set<std::uint64_t> ran;
    std::istringstream addresses(question());
    for (std::uint64_t address = 0; addresses >> std::hex >> address;) ran.insert(address);
    std::vector<std::uint32_t> numbers;
    for (const auto& [line, has_run] : simt::check::lines_run(program, name, ran))
        numbers.insert(numbers.end(), {line, has_run});
    return numbers;
}

void answer(const std::vector<std::uint32_t>& numbers) {
    struct stat status {};
    if (fstat(answer_file, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(std::uint32_t)))
        throw std::runtime_error("there is no memory for the answer");
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, answer_file, 0);
    if (place == MAP_FAILED) throw std::runtime_error("the memory for the answer cannot be used");
    auto* const words = static_cast<std::uint32_t*>(place);
    const std::size_t count = std::min(numbers.size(), size / sizeof *words - 1);
    std::copy_n(numbers.begin(), count, words + 1);
    words[0] = static_cast<std::uint32_t>(count);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        answer(numbers_of(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : ""));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rungs_program_reader: %s\n", error.what());
        return 1;
    }
}
