/// @file
/// simt++ as somebody calls it who has one file and the command line of nvcc.

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "testing/catch.h"
#include "testing/commands.h"

namespace fs = std::filesystem;
using namespace simt_testing;

namespace {

/// A folder, and commands that run in it.
class Desk {
  public:
    void write(const std::string& name, const std::string& content) const { folder_.write(name, content); }
    [[nodiscard]] bool has(const std::string& name) const { return fs::exists(folder_ / name); }

    /// Exit status; what was written is in `text`.
    int run(const std::string& command) {
        Outcome outcome = simt_testing::run("cd '" + (folder_ / "").string() + "' && " + command);
        text = std::move(outcome.text);
        return outcome.status;
    }
    int compile(const std::string& arguments) { return run(SIMT_BUILD "/bin/simt++ " + arguments); }
    [[nodiscard]] bool told(const std::string& part) const { return text.find(part) != std::string::npos; }

    std::string text;

  private:
    TestFolder folder_{"simt driver"};
};

constexpr const char* program = R"(#include <cstdio>
__global__ void twice(int* v, int n) {
    if (threadIdx.x < n) v[threadIdx.x] *= FACTOR;
}
int main() {
    int* v;
    cudaMalloc(&v, 32 * sizeof(int));
    int host[32] = {5};
    cudaMemcpy(v, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(v, N);
    cudaMemcpy(host, v, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(v);
    std::printf("%d\n", host[0]);
}
)";

}  // namespace

TEST_CASE("simt++ takes nvcc's command line", "[simt][driver]") {
    Desk folder;
    folder.write("a.cu", program);
    INFO(folder.text);
    REQUIRE(folder.compile(
                "-O3 -g -lineinfo -std=c++17 -arch=sm_90 -gencode arch=compute_80,code=sm_80 --use_fast_math "
                "-DFACTOR=2 -D N=32 -Xcompiler -Wall,-Wextra -Xptxas -v -lcudart -lnvToolsExt -include "
                "nvToolsExt.h a.cu -o a") == 0);
    CHECK(folder.told("simt++: note: -arch=sm_90 is ignored"));
    REQUIRE(folder.run("./a") == 0);
    CHECK(folder.text == "10\n");
}

TEST_CASE("simt++ --check says what a program does wrong", "[simt][driver]") {
    Desk folder;
    folder.write("a.cu", program);
    REQUIRE(folder.compile("--check -DFACTOR=3 -DN=33 a.cu -o bad") == 0);
    CHECK(folder.run("./bad") == 1);
    CAPTURE(folder.text);
    CHECK(folder.told("15\n"));
    CHECK(folder.told("memcheck error: out-of-bounds in kernel twice"));
    CHECK(folder.told("a.cu:3:"));
    CHECK(folder.told("simt: 1 finding, 1 of them an error"));
    REQUIRE(folder.compile("--check -DFACTOR=3 -DN=32 a.cu -o good") == 0);
    CHECK(folder.run("./good") == 0);
    CHECK(folder.told("simt: 0 findings"));
}

TEST_CASE("check mode reports what a program that aborts did wrong", "[simt][driver]") {
    Desk folder;
    INFO(folder.text);
    folder.write("a.cu",
                 "#include <cassert>\n#include <stdexcept>\n"
                 "__global__ void fill(int* v) { v[threadIdx.x] = 1; }\n"
                 "int main() {\n int* v;\n cudaMalloc(&v, 32 * sizeof(int));\n fill<<<1, 33>>>(v);\n"
                 "const cudaError_t error = cudaDeviceSynchronize();\n cudaFree(v);\n END;\n}\n");
    for (const char* end : {"assert(error != error)", "throw std::runtime_error(cudaGetErrorName(error))"}) {
        CAPTURE(end);
        REQUIRE(folder.compile("--check '-DEND=" + std::string(end) + "' a.cu -o a") == 0);
        CHECK(folder.run("sh -c './a; exit $?' 2>&1") == 128 + 6);
        CHECK(folder.told("out-of-bounds in kernel fill"));
        CHECK(folder.told("simt: 1 finding, 1 of them an error"));
        REQUIRE(folder.compile("--json a.json '-DEND=" + std::string(end) + "' a.cu -o a") == 0);
        CHECK(folder.run("sh -c './a; exit $?' 2>&1") == 128 + 6);
        CHECK(folder.has("a.json"));
    }
}

TEST_CASE("simt++ --check says where memory was allocated that is never freed", "[simt][driver]") {
    Desk folder;
    INFO(folder.text);
    folder.write("a.cu", R"(
        __device__ int* kept;
        __global__ void keep() { kept = new int(1); }
        // What it frees is freed when main() is over.
        struct Owner { int* v; Owner() { cudaMalloc(&v, 4); } ~Owner() { cudaFree(v); } };
        static Owner early;
        int main(int argc, char**) {
            static Owner late;
            int *lost, *pinned, *freed;
            cudaMalloc(&lost, 128);
            cudaMallocHost(&pinned, 64);
            cudaMalloc(&freed, 32);
            cudaFree(freed);
            keep<<<1, 1>>>();
            cudaDeviceSynchronize();
            if (argc > 1) cudaDeviceReset();
            return 0;
        })");
    REQUIRE(folder.compile("--check a.cu -o a") == 0);
    CHECK(folder.run("./a") == 0);
    CHECK(folder.told("memcheck warning: leak"));
    CHECK(folder.told("lost of 128 bytes is never freed, allocated at a.cu:10:"));
    CHECK(folder.told("64 bytes is never freed, allocated at a.cu:11:"));
    CHECK(folder.told("simt: 3 findings, 0 of them errors"));  // the last is what a kernel has kept: a note
    REQUIRE(folder.compile("--leaks a.cu -o a") == 0);
    CHECK(folder.run("./a") == 1);
    CHECK(folder.told("memcheck error: leak"));
    CHECK(folder.told("simt: 3 findings, 2 of them errors"));
}

TEST_CASE("what a program says at its end are its own words, and UTF-8", "[simt][driver]") {
    Desk folder;
    INFO(folder.text);
    const std::string name = "caf\xe9";  // Latin-1, in the name and in the text
    // The last finding is made when the program has ended, of what its static objects were.
    folder.write(name + ".cu",
                 "// d\xe9j\xe0 vu\n"
                 "__global__ void count(int* flag) { atomicAdd(flag, 1); }\n"
                 "int main() {\n    int* flag;\n    cudaMallocHost(&flag, 8);\n    *flag = 0;\n"
                 "    count<<<1, 1>>>(flag);\n    volatile int now = *flag;\n    (void)now;\n"
                 "    cudaFreeHost(flag);\n}\n");
    REQUIRE(folder.compile("--check " + name + ".cu -o told") == 0);
    CHECK(folder.run("./told") == 1);
    CHECK(folder.told("and an atomic by kernel count in the default stream meet"));
    REQUIRE(folder.compile("--json all.json " + name + ".cu -o written") == 0);
    CHECK(folder.run("./written && exit 9; python3 -c 'import json; "
                     "found = json.load(open(\"all.json\", encoding=\"utf-8\"))[\"findings\"]; "
                     "place = found[0][\"side\"]; "
                     "print(len(found), ascii(place[\"file\"]), place[\"path\"].endswith(\"/\" + "
                     "place[\"file\"]))'") == 0);
    CHECK(folder.told("1 'caf\\xe9.cu' True"));
}

TEST_CASE("a kernel does not wait for those that it launches", "[simt][driver]") {
    Desk folder;
    const auto check = [&](const std::string& barrier, const std::string& read) {
        folder.write(
            "a.cu",
            "__global__ void child(int* x) { x[threadIdx.x] += 1; }\n"
            "__global__ void sum(const int* x, int* out) { for (int i = 0; i < 32; ++i) *out += x[i]; }\n"
            "__global__ void parent(int* x, int* out) {\n"
            "    x[threadIdx.x] = 1;\n" +
                barrier +
                "\n    if (threadIdx.x != 0) return;\n"
                "    child<<<1, 32>>>(x);\n" +
                read +
                "\n}\n"
                "int main() { int* x; cudaMalloc(&x, 33 * 4); cudaMemset(x, 0, 33 * 4);\n"
                "    parent<<<1, 32>>>(x, x + 32); cudaDeviceSynchronize(); cudaFree(x); }\n");
        REQUIRE(folder.compile("--check -rdc=true a.cu -o a") == 0);
        return folder.run("./a");
    };
    const std::string barrier = "__syncthreads();";
    CHECK(check(barrier, "sum<<<1, 1>>>(x, out);") == 0);
    CHECK(folder.told("simt: 0 findings"));
    CHECK(check(barrier, "sum<<<1, 1, 0, cudaStreamTailLaunch>>>(x, out);") == 0);
    CHECK(check(barrier, "*out = x[3];") == 1);
    CAPTURE(folder.text);
    CHECK(folder.told("read-write in kernel child"));
    CHECK(folder.told("by kernel child and a read by kernel parent"));
    CHECK(folder.told("a.cu:8:"));
    CHECK(folder.told("does not wait for one that it has launched"));
    // What other threads do in no order with the launch.
    CHECK(check("", "sum<<<1, 1>>>(x, out);") == 1);
    CHECK(folder.told("a.cu:4:"));
}

TEST_CASE("what simt++ compiles it compiles in check mode, too", "[simt][driver]") {
    Desk folder;
    INFO(folder.text);
    SECTION("of the standard that was asked for") {
        // In C++20 it is the library's as well, for nvcc, too.
        folder.write(
            "a.cu",
            "__device__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
            "__global__ void k(float* x) { *x = lerp(1.0f, 2.0f, 0.5f) + __cplusplus / 100 % 100; }\n"
            "int main() { float* x; cudaMallocManaged(&x, sizeof *x); k<<<1, 1>>>(x);\n"
            "cudaDeviceSynchronize(); const int sum = static_cast<int>(2 * *x); cudaFree(x); return sum; "
            "}\n");
        for (const char* check : {"", "--check "}) {
            REQUIRE(folder.compile(std::string(check) + "a.cu -o a") == 0);
            CHECK(folder.run("./a") == 3 + 2 * 17);
        }
        CHECK(folder.compile("--check -std=c++20 a.cu -o a") != 0);
    }
    SECTION("templates that one file instantiates for another") {
        folder.write("a.cu",
                     "#include <vector>\n#include \"a.h\"\n"
                     "template <class T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }\n"
                     "template <class T> T run(T value) { T* x; cudaMallocManaged(&x, 32 * sizeof(T));\n"
                     "fill<<<1, SIZE>>>(x, value); cudaDeviceSynchronize(); std::vector<T> v(x, x + 32); "
                     "cudaFree(x);\n"
                     "return v.back(); }\n"
                     "Base* make(int n) { return new Derived(n); }\n"
                     "template int run<int>(int); template float run<float>(float);\n");
        // Constructors and destructors share code, under several names.
        folder.write("a.h",
                     "template <class T> T run(T value);\n"
                     "struct Base { Base(int n) : size(n) {} virtual ~Base() {} int size; };\n"
                     "struct Derived : Base { Derived(int n) : Base(n) {} };\n");
        folder.write("b.cpp",
                     "#include \"a.h\"\n#include <vector>\nBase* make(int n);\nint main() { std::vector<int> "
                     "v{run(1)};\n"
                     "Base* base = make(1); const Derived own(base->size); delete base;\n"
                     "v.push_back(static_cast<int>(run(2.5f))); return v[0] + v[1] + own.size; }\n");
        REQUIRE(folder.compile("-DSIZE=32 a.cu b.cpp -o a") == 0);
        CHECK(folder.run("./a") == 4);
        REQUIRE(folder.compile("--check -DSIZE=32 a.cu b.cpp -o a") == 0);
        CHECK(folder.run("./a") == 4);
        CHECK(folder.told("0 findings"));
        REQUIRE(folder.compile("--check -DSIZE=33 a.cu b.cpp -o a") == 0);
        CHECK(folder.run("./a") == 4);  // its own status stays
        CHECK(folder.told("out-of-bounds in kernel fill"));
        CHECK(folder.told("2 times"));
    }
}

TEST_CASE("simt++ --counters and --model say what launches cost", "[simt][driver]") {
    Desk folder;
    folder.write("a.cu", program);
    REQUIRE(folder.compile("--counters -DFACTOR=3 -DN=32 a.cu -o counted") == 0);
    CHECK(folder.run("./counted") == 0);
    CAPTURE(folder.text);
    CHECK(folder.told("kernel twice, grid 1, block 64"));
    CHECK(folder.told("global read 4"));
    CHECK(folder.told("4 of 4 sectors read, 4 written"));
    CHECK(folder.told("simt: 0 findings"));
    CHECK_FALSE(folder.told("modelled"));

    REQUIRE(folder.compile("--model h200 -DFACTOR=3 -DN=32 a.cu -o modelled") == 0);
    CHECK(folder.run("./modelled") == 0);
    CHECK(folder.told("kernel twice"));
    CHECK(folder.told("modelled for an NVIDIA H200: "));

    REQUIRE(folder.compile("--model=h200 --json 'my \"own\".json' -DFACTOR=3 -DN=33 a.cu -o written") == 0);
    CHECK(folder.run(
              "./written && exit 9; python3 -c 'import json; all = json.load(open(\"my \\\"own\\\".json\")); "
              "print(all[\"findings\"][0][\"kind\"], all[\"counters\"][0][\"kernel\"], "
              "all[\"modelled\"][\"launches\"][0][\"kernel\"])'") == 0);
    CHECK(folder.told("out-of-bounds twice twice"));
    CHECK(folder.told("simt: 1 finding, 1 of them an error"));

    REQUIRE(folder.compile("--json nowhere/a.json -DFACTOR=3 -DN=32 a.cu -o lost") == 0);
    CHECK(folder.run("./lost") == 1);
    CHECK(folder.told("nowhere/a.json"));
    CHECK(folder.compile("--model h300 a.cu") == 2);
    CHECK(folder.told("there is no GPU 'h300': h200, or a file"));
    folder.write("mine.toml", "name = 3\n");
    REQUIRE(folder.compile("--model mine.toml -DFACTOR=3 -DN=32 a.cu -o mine") == 0);
    CHECK(folder.run("./mine") == 2);
    CHECK(folder.told("mine.toml"));
}

TEST_CASE("simt++ makes objects and links several files", "[simt][driver]") {
    Desk folder;
    folder.write("include/a.cuh", "#pragma once\n__global__ void k(int* v);\nint three();\n");
    folder.write("k.cu", "#include \"a.cuh\"\n__global__ void k(int* v) { *v = 7; }\n");
    folder.write("main.txt",
                 "#include \"a.cuh\"\n#include <cstdio>\nint main() { int* v; cudaMallocManaged(&v, 4); "
                 "k<<<1, 1>>>(v); cudaThreadSynchronize(); std::printf(\"%d\\n\", *v + three()); }\n");
    folder.write("host.cpp", "int three() { return 3; }\n");
    REQUIRE(folder.compile("-I include -rdc=true -c k.cu") == 0);
    REQUIRE(folder.has("k.o"));
    REQUIRE(folder.compile("k.o host.cpp -x cu -Iinclude -rdc=true main.txt --output-file=all") == 0);
    CAPTURE(folder.text);
    CHECK(folder.told("main.txt:3:"));
    CHECK(folder.told("CUDA 13 removed it; write cudaDeviceSynchronize()"));
    REQUIRE(folder.run("./all") == 0);
    CHECK(folder.text == "10\n");
}

TEST_CASE("texture references, which CUDA 12 removed, work", "[simt][driver]") {
    Desk folder;
    const std::string source = SIMT_TESTS "/texture_reference.cu";
    const std::string printed =
        "offset 0: 0 1 2 3 0 no error\noffset 12: 3 4 no error\n1023; told 12; no offset: "
        "cudaErrorInvalidValue\n0 0.2 0.4 1 no error\n0.5 7 no error\nunspecified launch failure\n"
        "cudaErrorLaunchFailure, cudaSuccess, cudaSuccess\n";
    REQUIRE(folder.compile("'" + source + "' -o references") == 0);
    CAPTURE(folder.text);
    CHECK(folder.told("texture_reference.cu:6:"));
    CHECK(folder.told("CUDA 12 removed texture references"));
    REQUIRE(folder.run("./references 2> told") == 0);
    CHECK(folder.text == printed);
    REQUIRE(folder.run("cat told") == 0);
    CHECK(folder.told("a fetch through a texture reference that is bound to nothing"));

    REQUIRE(folder.compile("--check -w '" + source + "' -o checked") == 0);
    CHECK(folder.run("./checked 2> told") == 1);  // a fetch beside the memory, two of nothing
    CHECK(folder.text == printed);
    REQUIRE(folder.run("cat told") == 0);
    CAPTURE(folder.text);
    CHECK(folder.told("texture_reference.cu:13"));
    CHECK(folder.told("texture_reference.cu:20"));
    CHECK(folder.told("simt: 3 findings"));
}

TEST_CASE("kernels launch kernels", "[simt][driver]") {
    Desk folder;
    const std::string source = SIMT_TESTS "/nested.cu";
    const std::string printed =
        "order: 1 2 3 4 5\ntree: 254 launches\ndeep: cudaSuccess, 2049, cudaErrorLaunchPendingCountExceeded\n"
        "errors: cudaSuccess, cudaErrorInvalidConfiguration, cudaSuccess\nmemory: 4656\n"
        "at the end: cudaSuccess\n";
    REQUIRE(folder.compile("-rdc=true '" + source + "' -o nested") == 0);
    REQUIRE(folder.run("./nested 2> refused") == 0);
    CHECK(folder.text == printed);
    CHECK(folder.run("grep -c 'simt: error=refused kernel=\"note\"' refused") == 0);

    REQUIRE(folder.compile("-rdc=true --check '" + source + "' -o checked") == 0);
    CHECK(folder.run("./checked 2> findings") == 1);
    CHECK(folder.text == printed);
    REQUIRE(folder.run("cat findings") == 0);
    CHECK(folder.told("refused-launch"));
    CHECK(folder.told("simt: 1 finding, 1 of them an error"));

    CHECK(folder.compile("'" + source + "' -o plain") != 0);
    CHECK(folder.told("nested.cu:18:5: error: launch inside device code; it takes nvcc's `-rdc=true`"));
}

TEST_CASE("a nested launch that fails is the error of the one around it", "[simt][driver]") {
    Desk folder;
    folder.write(
        "a.cu",
        "#include <cstdio>\n__global__ void bad(int* v) { *v = 1; }\n"
        "__global__ void k() { bad<<<1, 1>>>(nullptr); }\n"
        "int main() { k<<<1, 1>>>(); std::printf(\"%s\\n\", cudaGetErrorName(cudaDeviceSynchronize())); }\n");
    REQUIRE(folder.compile("-rdc=true a.cu -o a") == 0);
    REQUIRE(folder.run("./a 2>&1") == 0);
    CAPTURE(folder.text);
    CHECK(folder.told("cudaErrorIllegalAddress"));
    CHECK(folder.told("simt: error=illegal-address kernel=\"bad\""));
}

TEST_CASE("simt++ compiles host code in C, and in C++ with CUDA's headers", "[simt][driver]") {
    Desk folder;
    folder.write("k.cu",
                 "__global__ void k(int* v) { *v = 7; }\nextern \"C\" int seven() { int* v; "
                 "cudaMallocManaged(&v, 4); k<<<1, 1>>>(v); cudaDeviceSynchronize(); return *v; }\n");
    folder.write("c.c",
                 "#include <cuda.h>\nint seven();\nint other() { int new = seven(); return CUDA_VERSION ? "
                 "new : 0; }\n");
    folder.write(
        "main.cpp",
        "#include <cuda_runtime.h>\n#include <cstdio>\nextern \"C\" int other();\nint main() { int n = 0; "
        "cudaGetDeviceCount(&n); std::printf(\"%d\\n\", n); return other() - 7; }\n");
    for (const char* const mode : {"", "--check "}) {
        CHECK(folder.compile(mode + std::string("-std=c++17 k.cu c.c main.cpp -o all")) == 0);
        CAPTURE(folder.text);
        CHECK(folder.run("./all") == 0);
        CHECK(folder.told("1\n"));
    }
}

TEST_CASE("the runtime API has the linkage of C", "[simt][driver]") {
    Desk folder;
    folder.write("k.cu", R"(
        extern "C" __global__ void scale(float* v, int n, float factor) {
            if (threadIdx.x < n) v[threadIdx.x] *= factor;
        }
        __global__ void add(float* v, int n, float4 what) {
            const float values[] = {what.x, what.y, what.z, what.w};
            if (threadIdx.x < n) v[threadIdx.x] += values[threadIdx.x];
        }
        extern "C" void launch(float* v, int n, const float4 what, cudaStream_t stream) {
            add<<<1, 32, 0, stream>>>(v, n, what);
        }
        extern "C" void* kernel_address() {
            cudaKernelNodeParams node{};
            node.func = (void*)scale;
            return node.func;
        })");
    REQUIRE(folder.compile("-std=c11 -Wall -Wextra -Wpedantic -Werror '" SIMT_TESTS "/host.c' -c") == 0);
    CHECK(folder.text.empty());
    REQUIRE(folder.compile("k.cu host.o -o run") == 0);
    CHECK(folder.run("./run") == 0);
    CHECK(folder.text ==
          "warp 32 32\nsums 11 22 33 44, calls 1\nscaled 22 44 66 88\nby a graph 44 88 132 176\n"
          "blocks 2, cudaErrorInvalidValue\n");

    // And for whoever declares it, or asks the linker for it by name.
    folder.write("own.cpp", R"(
        #include <dlfcn.h>
        #include <cstdio>
        extern "C" int cudaMalloc(void**, unsigned long);
        extern "C" int cudaFree(void*);
        int main() {
            void* memory = nullptr;
            const int error = cudaMalloc(&memory, 4);
            auto* const release = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_DEFAULT, "cudaFree"));
            std::printf("%d %d %d\n", error, memory != nullptr, release == cudaFree ? release(memory) : -1);
        })");
    REQUIRE(folder.compile("own.cpp -rdynamic -ldl -o own") == 0);
    CHECK(folder.run("./own") == 0);
    CHECK(folder.text == "0 1 0\n");
}

TEST_CASE("simt++ says what it cannot do", "[simt][driver][bad-input]") {
    Desk folder;
    folder.write("a.cu", "__global__ void k() { asm(\"bar.arrive 0, 64;\"); }\n");
    CHECK(folder.compile("a.cu -o a") == 1);
    CHECK(folder.told("a.cu:1:23: error: inline PTX"));
    CHECK_FALSE(folder.has("a"));
    folder.write("wide.cu",
                 "struct alignas(16) Pair { long long a, b; };\n__global__ void k(Pair* p) {\n"
                 "    atomicExch(p, Pair{1, 2});\n}\nint main() {}\n");
    CHECK(folder.compile("wide.cu -o a") == 1);
    CHECK(folder.told("the CPU backend has no atomics of 16 bytes"));
    CHECK(folder.told("wide.cu:3:"));
    folder.write("old.cu",
                 "__device__ int __any(int own) { return own; }\n__global__ void k(float* v) {\n"
                 "    *v = __any(1) + __shfl_down(*v, 16);\n}\nint main() {}\n");
    CHECK(folder.compile("old.cu -o a") == 1);
    CHECK(folder.told("CUDA removed __shfl_down(); write __shfl_down_sync(mask, ...)"));
    CHECK(folder.told("old.cu:3:"));
    CHECK_FALSE(folder.told("CUDA removed __any()"));
    for (const char* const arguments : {"", "a.cu -o", "a.cu --wrong", "a.cu -o a -o b", "-x c a.cu",
                                        "-c a.cu a.cu -o a", "--check -ccbin g++ a.cu"}) {
        CAPTURE(arguments);
        CHECK(folder.compile(arguments) == 2);
        CHECK(folder.told("; see simt++ --help\n"));
        CHECK(std::count(folder.text.begin(), folder.text.end(), '\n') == 1);
    }
    CHECK(folder.compile("--help") == 0);
    CHECK(folder.told("usage: simt++"));
    CHECK(folder.compile("--version") == 0);
    CHECK(folder.text.substr(0, 7) == "simt++:");
}

TEST_CASE("a CMake project in CUDA builds by the toolchain, unchanged", "[simt][driver][cmake]") {
    Desk folder;
    folder.write("CMakeLists.txt", R"(
        cmake_minimum_required(VERSION 3.18)
        project(somebody_elses LANGUAGES CXX CUDA)
        find_package(CUDAToolkit 12 REQUIRED)
        add_library(one OBJECT one.cu)
        target_include_directories(one PRIVATE include)
        set_target_properties(one PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
        add_library(kernels STATIC k.cu $<TARGET_OBJECTS:one>)
        target_include_directories(kernels PUBLIC include)
        target_compile_features(kernels PUBLIC cuda_std_17)
        target_compile_options(kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -lineinfo>)
        set_target_properties(kernels PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES "80;90")
        add_executable(app main.cpp)
        target_link_libraries(app PRIVATE kernels CUDA::cudart)
        if(NOT CMAKE_CUDA_FLAGS)
            add_library(shared SHARED shared.cu)
            add_executable(user user.cpp)
            target_link_libraries(user PRIVATE shared)
            add_executable(host host.cpp)
            target_link_libraries(host PRIVATE CUDA::cudart_static)
        endif())");
    folder.write("include/k.cuh", "#pragma once\n__device__ int one();\nvoid launch(int* v);\n");
    folder.write("one.cu", "#include \"k.cuh\"\n__device__ int one() { return 1; }\n");
    folder.write("k.cu",
                 "#include \"k.cuh\"\n__global__ void k(int* v) { *v += one(); }\n"
                 "void launch(int* v) { k<<<1, 1>>>(v); }\n");
    folder.write(
        "main.cpp",
        "#include <cuda_runtime.h>\n#include <cstdio>\n#include \"k.cuh\"\nint main() { int *v, h; "
        "cudaMalloc(&v, 4);\n#ifndef DIRTY\ncudaMemset(v, 0, 4);\n#endif\nlaunch(v); "
        "cudaMemcpy(&h, v, 4, cudaMemcpyDeviceToHost); cudaFree(v); std::printf(\"app %d\\n\", h); }\n");
    folder.write("shared.cu",
                 "__global__ void k(int* v) { *v = 7; }\nint seven() { int *v, h; cudaMalloc(&v, 4); "
                 "k<<<1, 1>>>(v); cudaMemcpy(&h, v, 4, cudaMemcpyDeviceToHost); cudaFree(v); return h; }\n");
    folder.write("user.cpp",
                 "#include <cstdio>\nint seven();\nint main() { std::printf(\"so %d\\n\", seven()); }\n");
    folder.write("host.cpp",
                 "#include <cuda_runtime.h>\n#include <cstdio>\nint main() { int n; cudaGetDeviceCount(&n); "
                 "std::printf(\"devices %d\\n\", n); }\n");
    const std::string configure =
        "cmake -S . -G Ninja -D CMAKE_TOOLCHAIN_FILE='" SIMT_BUILD "/simt/toolchain.cmake' ";
    CAPTURE(folder.text);
    REQUIRE(folder.run(configure + "-B run && cmake --build run") == 0);
    CHECK(folder.run("run/app && run/user && run/host") == 0);
    CHECK(folder.text == "app 1\nso 7\ndevices 1\n");
    // A header is known to what includes it; nothing else is built again.
    CHECK(folder.run("cmake --build run") == 0);
    CHECK(folder.told("no work to do"));
    CHECK(folder.run("touch include/k.cuh && cmake --build run") == 0);
    CHECK(folder.told("k.cu.o"));
    CHECK_FALSE(folder.told("shared.cu.o"));

    REQUIRE(folder.run(configure + "-D CMAKE_CUDA_FLAGS=--check -D CMAKE_CXX_FLAGS=-DDIRTY -B check && "
                                   "cmake --build check") == 0);
    CHECK(folder.run("check/app") == 1);
    CHECK(folder.told("k.cu:2"));
    CHECK(folder.told("uninitialised"));
}

TEST_CASE("a CMake project in C++ finds the package simt, as it is built and installed",
          "[simt][driver][cmake]") {
    Desk folder;
    folder.write("CMakeLists.txt", R"(
        cmake_minimum_required(VERSION 3.18)
        project(somebody_elses LANGUAGES CXX)
        # A linker does not escape the blanks in this folder's name.
        set(CMAKE_LINK_DEPENDS_USE_LINKER OFF)
        add_subdirectory(kernels)
        add_subdirectory(app))");
    folder.write("kernels/CMakeLists.txt", R"(
        find_package(simt REQUIRED)
        add_library(kernels STATIC)
        simt_add_kernels(kernels k.cu)
        target_include_directories(kernels PUBLIC .)
        add_library(shared SHARED)
        simt_add_kernels(shared k.cu))");
    folder.write("app/CMakeLists.txt", R"(
        add_executable(app main.cpp)
        target_link_libraries(app PRIVATE kernels)
        add_executable(user main.cpp)
        target_include_directories(user PRIVATE ../kernels)
        target_link_libraries(user PRIVATE shared)
        find_package(simt REQUIRED)
        add_executable(host host.cpp)
        target_link_libraries(host PRIVATE simt::simt)
        add_executable(checked main.cpp)
        target_include_directories(checked PRIVATE ../kernels)
        simt_add_checked_kernels(checked SOURCES ../kernels/k.cu)
        target_link_libraries(checked PRIVATE simt::report))");
    folder.write("kernels/k.cuh", "#pragma once\n__device__ inline int one() { return 1; }\n");
    folder.write("kernels/k.h", "int sum();\n");
    folder.write("kernels/k.cu",
                 "#include \"k.cuh\"\n#include \"k.h\"\n__global__ void k(int* v) { *v += one(); }\n"
                 "int sum() { int *v, h; cudaMalloc(&v, 4); k<<<1, 1>>>(v); "
                 "cudaMemcpy(&h, v, 4, cudaMemcpyDeviceToHost); cudaFree(v); return h; }\n");
    folder.write("app/main.cpp",
                 "#include <cstdio>\n#include \"k.h\"\nint main() { std::printf(\"%d\\n\", sum()); }\n");
    folder.write("app/host.cpp",
                 "#include <cuda_runtime.h>\n#include <cstdio>\nint main() { int n; cudaGetDeviceCount(&n); "
                 "std::printf(\"devices %d\\n\", n); }\n");
    // An installed package is wherever its folder has been moved to.
    REQUIRE(folder.run("cmake --install '" SIMT_BUILD
                       "' --component simt --prefix \"$PWD/there\" && mv there 'my own'") == 0);
    CAPTURE(folder.text);
    for (const std::string prefix : {"'" SIMT_BUILD "'", "\"$PWD/my own\""}) {
        REQUIRE(folder.run("rm -rf build && cmake -S . -G Ninja -B build -D CMAKE_PREFIX_PATH=" + prefix +
                           " && cmake --build build") == 0);
        CHECK_FALSE(folder.told("Warning"));
        CHECK(folder.run("build/app/app && build/app/user && build/app/host") == 0);
        CHECK(folder.text == "0\n0\ndevices 1\n");  // memory is 0xFF at first
        CHECK(folder.run("build/app/checked") == 1);
        CHECK(folder.told("k.cu:3:"));
        CHECK(folder.told("uninitialised"));
        CHECK(folder.run("touch kernels/k.cuh && cmake --build build") == 0);
        CHECK(folder.told("checked"));
        INFO(folder.text);
        CHECK_FALSE(folder.told("host"));
    }
    REQUIRE(folder.run(
                "'my own/bin/simt++' --model h200 -x cu app/main.cpp kernels/k.cu -Ikernels -o a && ./a") ==
            1);
    CHECK(folder.told("modelled for an NVIDIA H200: "));
    folder.write("cuda/CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES CXX CUDA)\n"
                 "find_package(CUDAToolkit REQUIRED)\nadd_executable(app ../kernels/k.cu ../app/main.cpp)\n"
                 "target_include_directories(app PRIVATE ../kernels)\ntarget_link_libraries(app PRIVATE "
                 "CUDA::cudart)\n");
    REQUIRE(folder.run("cmake -S cuda -G Ninja -B in -D CMAKE_TOOLCHAIN_FILE=\"$PWD/my "
                       "own/lib/simt/toolchain.cmake\" && cmake --build in") == 0);
    CHECK(folder.run("in/app") == 0);
    CHECK(folder.text == "0\n");
}
