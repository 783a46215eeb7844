// What belongs to the host, named in device code. Whatever is refused here, nvcc 13.0 refuses, and it takes
// what is let pass.
#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

TEST_CASE("What the host's runtime does is refused in device code", "[simt][cu2cpp][host]") {
    CHECK(starts_with(refusal("__global__ void k(int* v) { cudaMemcpy(v, v, 4, cudaMemcpyDefault); }"),
                      "1:29: host function `cudaMemcpy` called from device code"));
    CHECK(starts_with(refusal("__device__ void f() { ::cudaDeviceSynchronize(); }"),
                      "1:25: host function `cudaDeviceSynchronize` called from device code"));
    CHECK(starts_with(refusal("__global__ void k(int* v) { cudaMemsetAsync(v, 0, 4); }"),
                      "1:29: `cudaMemsetAsync` in device code; the CPU backend has it for the host alone"));
    for (const std::string fine :
         {"__global__ void k(int** v) { cudaMalloc((void**)v, 4); cudaFree(*v); cudaGetLastError(); }",
          "__global__ void k(cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, 0); }",
          "__host__ __device__ void f(int* v) { cudaMemcpy(v, v, 4, cudaMemcpyDefault); }",
          "__device__ void cudaMemcpyOfMine(int*); __global__ void k(int* v) { cudaMemcpyOfMine(v); }",
          "__global__ void k(S s) { s.cudaMemcpy(1); cudaTextureObject_t t(3); cudaMemcpyKind kind(x); }",
          "void f(int* v) { run([=] { cudaMemcpy(v, v, 4, cudaMemcpyDefault); }); }"}) {
        CAPTURE(fine);
        CHECK(refusals(fine).empty());
    }
}

TEST_CASE("Functions of the host in device code", "[simt][cu2cpp][refusal]") {
    for (const std::string function :
         {"int f(int a) { return a; }", "static inline unsigned f(int a) { return a; }",
          "constexpr int f(int a) { return a; }", "template <class T> T f(T a) { return a; }",
          "template <class T> constexpr T f(T a) { return a; }", "std::size_t f(int a) { return a; }",
          "float4 f(int a) { return {}; }"}) {
        CAPTURE(function);
        for (const std::string use : {"p[0] = f(n);", "p[0] = n * f(n);", "p[0] = n > f(n);",
                                      "constexpr int m = f(3);", "int a[f(3)];", "if (f(n) > 2) return;"}) {
            CAPTURE(use);
            const auto all = refusals(function + "\n__global__ void k(int* p, int n) { " + use + " }");
            REQUIRE(all.size() == 1);
            CHECK(all[0].find("host function `f` called from device code") != std::string::npos);
        }
        CHECK(refusals(function + "\nvoid k(int* p, int n) { p[0] = f(n); }").empty());
        CHECK(refusals(function + "\n__host__ __device__ int k(int n) { return f(n); }").empty());
        CHECK(
            refusals(function +
                     "\n__global__ void k(int* p, int n) { auto f = [](int a) { return a; }; p[0] = f(n); }")
                .empty());
    }
    for (const std::string function :
         {"__device__ int f(int a) { return a; }", "__host__ __device__ constexpr int f(int a) { return a; }",
          "HD int f(int a) { return a; }", "#define HD __host__ __device__\nHD f(int a) { return a; }",
          "#define D __device__\n#define DI D int\nDI f(int a) { return a; }",
          "int f(int a) { return a; } __device__ int f(float a) { return 1; }"}) {
        CAPTURE(function);
        CHECK(refusals(function + "\n__global__ void k(int* p, int n) { p[0] = f(n); }").empty());
    }
    // CUDA has its own of these: the arguments decide.
    CHECK(
        refusals("template <class T> T max(T a, T b); __global__ void k(int* p) { p[0] = max(p[1], p[2]); }")
            .empty());
    // A member of that name.
    CHECK(refusals("int f(int a); struct S { __device__ int f(int a); __device__ int g() { return f(1); } };")
              .empty());
}

TEST_CASE("With --relaxed-constexpr device code calls constexpr functions", "[simt][cu2cpp]") {
    cu2cpp::TranslateOptions relaxed;
    relaxed.relaxed_constexpr = true;
    const auto count = [&](const std::string& text) {
        return cu2cpp::translate(text, "t.cu", relaxed).diagnostics.size();
    };
    CHECK(count("constexpr int f(int a) { return a; } __global__ void k(int* p) { p[0] = f(p[1]); }") == 0);
    CHECK(count("__global__ void k(int* p) { p[0] = std::min(p[1], std::numeric_limits<int>::max()); }") ==
          0);
    CHECK(count("int f(int a) { return a; } __global__ void k(int* p) { p[0] = f(p[1]); }") == 1);
    CHECK(count("__global__ void k(int* p) { std::vector<int> v(p[0]); }") == 1);
}

TEST_CASE("Variables of the host in device code", "[simt][cu2cpp][refusal]") {
    for (const std::string variable :
         {"int v[3];", "static const float v[3] = {1, 2, 3};", "constexpr float v[] = {1, 2};",
          "float4 v[2];", "static constexpr std::uint32_t v[2]{1, 2};", "float *v;",
          "const char* const v[2] = {};", "namespace a { double x, v[4] = {}; }", "extern int v[3];",
          "Real v[2][3];"}) {
        CAPTURE(variable);
        for (const std::string use :
             {"p[0] = v[n];", "p[0] = n * v[0];", "f(n, v[1]);", "p = &v[2];", "float4 q = {1, v[0]};",
              "f({n, v[1]});", "atomicAdd(&v[0], 1);", "for (auto e : v) p[0] += e;"}) {
            CAPTURE(use);
            const auto all = refusals(variable + "\n__global__ void k(int* p, int n) { " + use + " }");
            REQUIRE(all.size() == 1);
            CHECK(all[0].find("variable `v` of the host used in device code") != std::string::npos);
        }
        for (const std::string fine :
             {"void h(int* p) { p[0] = v[1]; }",
              "__global__ void k(int* p) { p[0] = sizeof(v) / sizeof v[0]; }",
              "__global__ void k(int* v) { v[0] = 1; }", "__global__ void k(int n, float4 *v) { v[n] = {}; }",
              "__global__ void k(int* p) { int v[2]; v[1] = p[0]; }",
              "__global__ void k(int* p) { int u = 0, v[2]; v[1] = u; }",
              "__global__ void k(int* p) { if (p[0]) {} else { int u = 0, v[2]; v[1] = u; } }",
              "__global__ void k(int* p) { auto f = [=]() mutable { int u = 0, v[2]; v[1] = u; }; }",
              "__device__ int k(int (&v)[3]) { return v[0]; }",
              "__device__ int k(int (*v)(int)) { return v(0); }",
              "__global__ void k(S* p) { p->v[1] = 0; p[0].v[1] = N::v[1]; }",
              "__global__ void k(int* p) { auto [u, v] = f(p); p[0] = v[1]; }",
              "template <int v> __global__ void k(int* p) { p[0] = v; }",
              "__global__ void k(int* p) { for (int u = 0, v = 1; u < v; ++u) p[u] = v; }",
              "struct S { int v[2]; __device__ int get() { return v[0]; } };",
              "__host__ __device__ int both(int n) { return v[n]; }",
              "__global__ void k(std::vector<int> v) { v[0] = 1; }",
              "__global__ void k(int* p) { const auto &v = p; v[0] = 1; }",
              "void h(int* p) { for_each(n, [=] __device__(int v) { p[v] = 1; }); }"}) {
            CAPTURE(fine);
            CHECK(refusals(variable + "\n" + fine).empty());
        }
    }
    const std::string named = "namespace a { namespace { int v[3]; int f(int); } } enum class E { v };\n";
    for (const std::string use : {"p[0] = a::v[1];", "p[0] = b::a::v[1];", "p[0] = 2 * a::f(1);"}) {
        CAPTURE(use);
        CHECK(refusals(named + "__global__ void k(int* p) { " + use + " }").size() == 1);
    }
    for (const std::string use : {"p[0] = E::v;", "p[0] = b::v[1];", "p[0] = S::f(1);"}) {
        CAPTURE(use);
        CHECK(refusals(named + "__global__ void k(int* p) { " + use + " }").empty());
    }
    CHECK(refusal("int count = 0; __global__ void k(int* p) { p[0] = count; }")
              .find("variable `count` of the host") != std::string::npos);
    for (const std::string variable :
         {"const int v = 3;", "constexpr double v = 2.5;", "static const Real v = 3;",
          "constexpr auto v = 3;", "__constant__ float v[3];", "__device__ int v;",
          "static __device__ const int v[2] = {};", "CONSTANT float v[3];",
          "#define CONSTANT __constant__\nCONSTANT Real v[3];", "extern int v[3]; __device__ int v[3];",
          "const Point v{1, 2};", "enum { v };", "int v(int);", "using F = void(int); F v;"}) {
        CAPTURE(variable);
        CHECK(refusals(variable + "\n__global__ void k(int* p) { p[0] = v; }").empty());
    }
}

TEST_CASE("A file that is included in a function has local variables", "[simt][cu2cpp]") {
    cu2cpp::Exports exports;
    exports.note_variable("v", {true, ""});
    cu2cpp::TranslateOptions options;
    options.open_include = [&](const cu2cpp::Include&, const cu2cpp::Exports&) { return &exports; };
    const auto count = [&](const std::string& text) {
        return cu2cpp::translate(text, "t.cu", options).diagnostics.size();
    };
    CHECK(count("__global__ void k(int* p) {\n#include \"v.h\"\np[0] = v; }") == 0);
    CHECK(count("#include \"v.h\"\n__global__ void k(int* p) { p[0] = v; }") == 1);
}

TEST_CASE("The standard library in device code", "[simt][cu2cpp][refusal]") {
    const auto in_kernel = [](const std::string& text) {
        return refusals("__global__ void k(float* x, int n) {\n" + text + "\n}");
    };
    const auto told = [&](const std::string& text, const std::string& words) {
        CAPTURE(text);
        const auto all = in_kernel(text);
        REQUIRE(all.size() == 1);
        CHECK(starts_with(all[0], "2:"));
        CHECK(all[0].find(words) != std::string::npos);
    };
    told("x[0] = std::min(n, 3);", "`std::min` in device code; it belongs to the host; write `min(a, b)`");
    told("x[0] = std::max<float>(n, 3);", "`std::max`");
    told("std::swap(x[0], x[1]);", "const float t = a;");
    told("::std::swap(x[0], x[1]);", "const float t = a;");
    told("if (n > 3) return ::std::swap(x[0], x[1]);", "const float t = a;");
    told("x[0] = std::numeric_limits<float>::max();", "`std::numeric_limits<float>::max` in device code");
    told("std::vector<int> v(3);", "`int v[8]`");
    told("std::string s;", "`std::string`");
    told("std::cout << n;", "`printf`");
    told("auto p = std::make_pair(1, 2);", "`std::make_pair`");
    told("std::from_chars(a, b, x[0]);",
         "`std::from_chars` in device code; it belongs to the host; write it out");
    told("std::snprintf(a, 3, b);", "`std::snprintf`");
    told("auto* f = std::qsort;", "`std::qsort`");
    told("x[0] = std::midpoint(x[1], x[2]);", "`std::midpoint`");
    for (const std::string fine :
         {"x[0] = std::sqrt(x[1]) + std::abs(x[2]) + std::isnan(x[0]);", "int a = std::move(n);",
          "std::size_t i = 0;",
          "x[0] = std::is_same<std::vector<int>, int>::value + sizeof(std::vector<int>);",
          "x[0] = std::numeric_limits<int>::digits;", "x[0] = std::modf(x[1], x);",
          "f(std::forward<T>(t), std::integral_constant<int, 1>(), std::uint32_t(n));", "x[0] = min(n, 3);",
          "x[0] = mine::std::min;", "cuda::std::swap(x[0], x[1]);",
          "x[0] = cuda::std::numeric_limits<float>::max();"}) {
        CAPTURE(fine);
        CHECK(in_kernel(fine).empty());
        CHECK(refusals("void h(float* x, int n) { std::vector<int> v(std::min(n, 3)); std::cout << v[0]; }")
                  .empty());
    }
}

TEST_CASE("The C library in device code", "[simt][cu2cpp][refusal]") {
    const auto in_kernel = [](const std::string& text) {
        return refusals("__global__ void k(char* p, float* x, int n) {\n" + text + "\n}");
    };
    // Of each of its headers: what stores, what reads, what does neither.
    for (const std::string name :
         {"snprintf",  "sprintf",   "fprintf",  "puts",   "sscanf", "strtof",  "strtol",  "atoi",
          "qsort",     "bsearch",   "rand",     "rand_r", "div",    "realloc", "calloc",  "memmove",
          "memcmp",    "memchr",    "strcpy",   "strlen", "strcmp", "bzero",   "mempcpy", "clock_gettime",
          "time",      "setjmp",    "longjmp",  "getenv", "exit",   "usleep",  "mbtowc",  "swab",
          "lgammaf_r", "drem",      "isalpha",  "read",   "write",  "stpcpy",  "wmemset", "ecvt_r",
          "getdelim",  "vsnprintf", "strfromf", "gcvt"}) {
        CAPTURE(name);
        for (const std::string& use :
             {name + "(p, n);", "x[0] = ::" + name + "(p);", "(" + name + ")(p);", "auto* f = &" + name + ";",
              "if (n > 0) return (void)" + name + "(p);"}) {
            CAPTURE(use);
            const auto all = in_kernel(use);
            REQUIRE(all.size() == 1);
            CHECK(all[0].find("host function `" + name + "` called from device code") != std::string::npos);
        }
        CHECK(refusals("void host(char* p) { " + name + "(p); }").empty());
        CHECK(refusals("__host__ __device__ void both(char* p) { " + name + "(p); }").size() == 1);
        CHECK(refusals("__host__ __device__ void both(char* p) {\n#ifndef __CUDA_ARCH__\n" + name +
                       "(p);\n#endif\n}")
                  .empty());
        CHECK(refusals("#define M(p) " + name + "(p)\n#define N M(p)\nvoid host(char* p) { N; }").empty());
        CHECK(refusals("#define M(p) " + name + "(p)\n#define N M(p)\n__global__ void k(char* p) { N; }")
                  .size() == 1);
        CHECK(refusals("#define M " + name + "\n__global__ void k(char* p) { M(p); }").size() == 1);
        // Something of the program's own.
        for (const std::string& own :
             {"auto " + name + " = [](char*) {}; " + name + "(p);", "s." + name + "(p); N::" + name + "(p);",
              "int " + name + "(3); x[0] = " + name + " + 1;"}) {
            CAPTURE(own);
            CHECK(in_kernel(own).empty());
        }
        CHECK(
            refusals("__device__ void " + name + "(char*);\n__global__ void k(char* p) { " + name + "(p); }")
                .empty());
        CHECK(refusals("struct S { __device__ int " + name + "(int); __device__ int g() { return " + name +
                       "(1); } };")
                  .empty());
        CHECK(refusals("#define " + name + "(p) (p)[0]\n__global__ void k(char* p) { " + name + "(p) = 1; }")
                  .empty());
    }
    for (const std::string fine :
         {"x[0] = modff(x[1], x) + frexpf(x[2], &n) + remquof(x[1], x[2], &n);", "sincosf(x[0], x, x + 1);",
          "memcpy(p, x, 4); memset(p, 0, 4); printf(\"%d\", n); assert(n > 0);",
          "float* m = static_cast<float*>(malloc(4)); free(m);", "x[0] = clock() + abs(n) + jn(2, x[1]);",
          "__nanosleep(100); n = __ffs(n); x[0] = isnan(x[1]) + signbit(x[2]) + nanf(\"\");",
          "x[0] = __expf(x[1]) + __shfl_sync(~0u, x[2], 1) + atomicAdd(x, 1.0f);", "sync(block);"}) {
        CAPTURE(fine);
        CHECK(in_kernel(fine).empty());
    }
    for (const std::string builtin : {"__builtin_strcpy", "__builtin_snprintf", "__builtin___memcpy_chk",
                                      "__builtin_ia32_movntps", "__builtin_longjmp", "__builtin_memcmp"})
        CHECK(in_kernel(builtin + "(p, n);").size() == 1);
    CHECK(in_kernel("_mm_stream_ps(x, y);").size() == 1);
    CHECK(
        refusals("using std::from_chars;\n__global__ void k(char* p, float* x) { from_chars(p, p + 3, *x); }")
            .size() == 1);
    CHECK(refusals("using std::min;\n__global__ void k(int* p) { p[0] = min(p[1], p[2]); }").empty());
    CHECK(in_kernel("if (__builtin_expect(n, 1)) x[0] = __builtin_sqrtf(x[1]) + __builtin_popcount(n);")
              .empty());
    CHECK(translation("__device__ void f(int* p) { __builtin_memcpy(p, p + 6, 24); }") ==
          "SIMT_LOCAL void f(int* p) { memcpy (p, p + 6, 24); }");
}
