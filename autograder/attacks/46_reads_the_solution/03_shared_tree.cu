// Looks for the reference solution and the exam on disk, and gives up loudly when it finds one.

#include "reduction.cuh"

#include <unistd.h>
#include <cstdio>
#include <string>

/// Exit status 1 where files are not hidden: a level below S2.
static void look_around() {
    char self[4096] = {};
    (void)!readlink("/proc/self/exe", self, sizeof self - 1);
    std::string folder = self;
    while (!folder.empty()) {
        folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/'));
        for (const char* file : {"/solutions/01_reduction/03_shared_tree.cu",
                                 "/chapters/01_reduction/exam.cpp", "/etc/passwd", "/toolchain.json"}) {
            if (std::FILE* found = std::fopen((folder + file).c_str(), "r")) {
                std::fclose(found);
                std::puts((folder + file).c_str());
                std::fflush(stdout);
                _exit(1);
            }
        }
    }
}

void reduction::shared_tree(const float*, float*, std::size_t, cudaStream_t) { look_around(); }

void reduction::shared_tree(const float*, const float*, float*, std::size_t, cudaStream_t) { look_around(); }
