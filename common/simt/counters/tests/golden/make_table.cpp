// Apart from main.cu, which is compiled against the toolkit's headers.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "simt/inspect/table.h"

int make_table(const char* metrics_file, const char* raw_file, const std::vector<std::string>& names) {
    std::ifstream metrics_in(metrics_file), raw(raw_file);
    if (!metrics_in || !raw) {
        std::fprintf(stderr, "simt_golden: cannot read %s\n", metrics_in ? raw_file : metrics_file);
        return 2;
    }
    std::vector<std::string> metrics;
    for (std::string metric; metrics_in >> metric;) metrics.push_back(metric);
    golden::write(std::cout, golden::read_ncu(raw, names, metrics));
    return 0;
}
