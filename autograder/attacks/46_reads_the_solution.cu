// Computes honestly, and looks for solutions, the exam, other students' files and other processes; leaves
// with status 1 when it can read one.
//
//     verdicts = ["OK"]
//     min_share = 1
//     max_share = 1
//     defences = ["files"]
//     checks = false
//     needs = "S2"

// Computes honestly, and looks for what is nobody's business: solutions, exams, other students' files,
// results, other processes. Leaves with status 1 when it can read one, after saying what it read, and with 2
// when it cannot even read what it may.

#include "reduction.cuh"

#include <dirent.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

template <class Terms>
__global__ void add_kernel(Terms terms, float* sum, std::size_t n) {
    __shared__ float partial[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? terms(i) : 0.0f;
    for (unsigned stride = 128; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) partial[threadIdx.x] += partial[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

template <class Terms>
static void honest(Terms terms, float* sum, std::size_t n, cudaStream_t stream) {
    cudaMemsetAsync(sum, 0, sizeof(float), stream);
    if (n == 0) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(terms, sum, n);
}

static std::string first_line(const std::string& file) {
    char line[256] = {};
    if (std::FILE* in = std::fopen(file.c_str(), "r")) {
        (void)!std::fgets(line, sizeof line, in);
        std::fclose(in);
    }
    return line;
}

static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    if (DIR* entries = opendir(folder.c_str())) {
        while (const dirent* entry = readdir(entries)) names.push_back(entry->d_name);
        closedir(entries);
    }
    return names;
}

[[noreturn]] static void leave(int status, const std::string& words) {
    std::puts(words.c_str());
    std::fflush(stdout);
    _exit(status);
}

static void read_file(const std::string& file) {
    const std::string line = first_line(file);
    if (!line.empty()) leave(1, "read " + file + ": " + line);
}

/// Another student's file and the like, wherever hand-ins lie beside each other.
static void search_folder(const std::string& folder) {
    for (const std::string& name : names_in(folder)) {
        if (name == "." || name == "..") continue;
        for (const char* file :
             {"/other_student/03_shared_tree.cu", "/solutions/03_shared_tree.cu", "/results.json"}) {
            read_file(folder + "/" + name + file);
        }
    }
}

/// Once a process.
static void look_around() {
    static bool done = false;
    if (done) return;
    done = true;
    if (first_line("/proc/self/maps").empty() || names_in("/proc/self").empty())
        leave(2, "cannot read files");
    for (const char* place : {"/tmp", "/var/tmp", "/home", "/root", "."}) search_folder(place);
    const std::string parent = "/proc/" + std::to_string(getppid());
    for (const char* file : {"/cmdline", "/environ", "/maps", "/status"}) read_file(parent + file);
    read_file("/proc/1/cmdline");

    char self[4096] = {};
    (void)!readlink("/proc/self/exe", self, sizeof self - 1);
    std::string folder = self;
    if (folder.empty()) leave(2, "does not know where it is");
    while (!folder.empty()) {
        folder.resize(folder.rfind('/'));
        for (const char* file :
             {"/solutions/01_reduction/03_shared_tree.cu", "/chapters/01_reduction/exam/exam.cpp",
              "/toolchain.json", "/README.md", "/.git/HEAD", "/etc/passwd", "/etc/hostname"}) {
            read_file(folder + file);
        }
        if (!names_in(folder + "/").empty()) leave(1, "can list " + folder + "/");
    }
}

void reduction::shared_tree(const float* v, float* sum, std::size_t n, cudaStream_t stream) {
    look_around();
    honest(reduction::Values{v}, sum, n, stream);
}

void reduction::shared_tree(const float* v, const float* w, float* sum, std::size_t n, cudaStream_t stream) {
    look_around();
    honest(reduction::Products{v, w}, sum, n, stream);
}
