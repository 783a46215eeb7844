// The program that ncu profiles: launches the golden set once. See measure.sh.
//
//     simt_golden                           launches every kernel, prints their names
//     simt_golden --table METRICS RAW       turns ncu's output into the table of the repository, on standard
//     output

#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "golden.h"
#include "table.h"

static int make_table(const char* metrics_file, const char* raw_file) {
    std::ifstream metrics_in(metrics_file), raw(raw_file);
    if (!metrics_in || !raw) {
        std::fprintf(stderr, "simt_golden: cannot read %s\n", metrics_in ? raw_file : metrics_file);
        return 2;
    }
    std::vector<std::string> metrics, names;
    for (std::string metric; metrics_in >> metric;) metrics.push_back(metric);
    for (const golden::Kernel& kernel : golden::all_kernels()) names.push_back(kernel.name);
    golden::write(std::cout, golden::read_ncu(raw, names, metrics));
    return 0;
}

int main(int count, char** words) {
    try {
        if (count == 4 && std::string(words[1]) == "--table") return make_table(words[2], words[3]);
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
