// The program that ncu profiles: launches the golden set once. See measure.sh.
//
//     simt_golden                           launches every kernel, prints their names
//     simt_golden --table METRICS RAW       turns ncu's output into the table of the repository, on standard
//     output

#include <exception>
#include <string>
#include <vector>

#include "counters/tests/golden/golden.h"

/// Writes the table; see make_table.cpp.
int make_table(const char* metrics_file, const char* raw_file, const std::vector<std::string>& names);

int main(int count, char** words) {
    try {
        if (count == 4 && std::string(words[1]) == "--table") {
            std::vector<std::string> names;
            for (const golden::Kernel& kernel : golden::all_kernels()) names.push_back(kernel.name);
            return make_table(words[2], words[3], names);
        }
        if (count != 1) {
            std::fprintf(stderr, "usage: simt_golden [--table METRICS RAW]\n");
            return 2;
        }
        golden::run_all([](const golden::Kernel& kernel) { std::printf("%s\n", kernel.name); },
                        [](const golden::Kernel&) {});
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "simt_golden: %s\n", error.what());
        return 1;
    }
}
