/// @file
/// Which kernels become loops over lanes, and what they then are.

#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

cu2cpp::TranslateOptions by_loops() {
    cu2cpp::TranslateOptions options;
    options.loops_over_lanes = true;
    return options;
}

/// What the translator says of the only kernel with a barrier in `program`.
std::string fate(const std::string& program) {
    const auto loops = cu2cpp::translate(program, "t.cu", by_loops()).loops;
    if (loops.size() != 1) return "<" + std::to_string(loops.size()) + " kernels>";
    return loops[0].message.substr(loops[0].message.find(' ') + 1);
}

std::string fate_of_body(const std::string& body, const std::string& before = "") {
    return fate(before + "__global__ void k(int* out, const int* in, int n) { __shared__ int s[64]; " + body +
                " }");
}

const std::string taken = "is run by loops over its threads";
std::string left(const std::string& why) { return "is run by a stack per thread: " + why; }

}  // namespace

TEST_CASE("Without the option nothing becomes a loop over lanes", "[simt][cu2cpp][lanes]") {
    const std::string program = "__global__ void k(int* out) { out[threadIdx.x] = 1; __syncthreads(); }";
    CHECK(translation(program).find("SIMT_EACH_LANE") == std::string::npos);
    CHECK(translation(program, by_loops()).find("SIMT_EACH_LANE") != std::string::npos);
}

TEST_CASE("A kernel without a barrier stays as it is", "[simt][cu2cpp][lanes]") {
    const std::string program = "__global__ void k(int* out) { out[threadIdx.x] = 1; }";
    CHECK(translation(program, by_loops()) == program);
}

TEST_CASE("Between two barriers is a loop, and lines keep their numbers", "[simt][cu2cpp][lanes]") {
    const std::string program =
        "__global__ void k(int* out) {\n"
        "    int x = out[threadIdx.x];\n"
        "    __syncthreads();\n"
        "    out[threadIdx.x] = x;\n"
        "}\n";
    const std::string out = raw_translation(program, by_loops());
    CHECK(count_lines(out) == count_lines(program));
    CHECK(squeezed(out) ==
          "__global__ void k(int* out) { SIMT_LANES SIMT_LANE_VARIABLE(x, int ) SIMT_EACH_LANE { int x = "
          "out[threadIdx.x]; simt_own_x.keep(simt_lane, x); } } simt_lanes.synchronise(); SIMT_EACH_LANE "
          "SIMT_LANE_NAME(x, simt_own_x[simt_lane]) { out[threadIdx.x] = x; } } }");
}

TEST_CASE("What is made of the lane's place alone is made anew, not kept", "[simt][cu2cpp][lanes]") {
    const std::string out = translation(
        "__global__ void k(int* out) { const int i = blockIdx.x * 4 + threadIdx.x; __syncthreads(); "
        "out[i] = 1; }",
        by_loops());
    CHECK(out.find("SIMT_LANE_VARIABLE") == std::string::npos);
    CHECK(out.find("const int i = blockIdx.x*4+threadIdx.x; { out[i] = 1; }") != std::string::npos);
}

TEST_CASE("What is made anew never meets another variable of a name", "[simt][cu2cpp][lanes]") {
    const std::string out = translation(
        "__global__ void k(int* out, int n) { const int i = n - threadIdx.x; for (int n = 0; n < 3; ++n) { "
        "__syncthreads(); out[i] = n; } }",
        by_loops());
    CHECK(out.find("SIMT_LANE_VARIABLE(i, const int )") != std::string::npos);
    CHECK(fate_of_body("int x = in[threadIdx.x]; __syncthreads(); { out[0] = x; int x = in[n - threadIdx.x]; "
                       "__syncthreads(); "
                       "out[1] = x; }") == left("two variables of one name, `x`, between two barriers"));
}

TEST_CASE("Ways to a barrier that are the same for all lanes", "[simt][cu2cpp][lanes]") {
    for (const std::string body :
         {"__syncthreads();",
          "for (int d = 32; d > 0; d /= 2) { s[threadIdx.x] += d; __syncthreads(); }",
          "for (int d = 32; d > 0; d >>= 1) __syncthreads();",
          "int k = 0; while (k < n) { __syncthreads(); k++; }",
          "int k = n; do { __syncthreads(); --k; } while (k > 0);",
          "if (blockIdx.x == 0) { __syncthreads(); } else { out[0] = 1; __syncthreads(); }",
          "const int tiles = (n + 63) / 64; for (int t = 0; t < tiles; ++t) { s[threadIdx.x] = t; "
          "__syncthreads(); }",
          "for (int t = in[blockIdx.x]; t < in[blockIdx.x + 1]; ++t) __syncthreads();",
          "for (int t = 0; t < n; ++t) { if (t == 3) break; if (t == 2) continue; __syncthreads(); }",
          "if (threadIdx.x >= n) return; __syncthreads();",
          "for (int i = threadIdx.x; i < n; i += 64) { if (i == 7) break; out[i] = 0; } __syncthreads();",
          "s[0] = 1; __syncthreads(); if (s[0] > 0) __syncthreads();",
          "int v = in[threadIdx.x]; for (int d = 16; d > 0; d /= 2) v += "
          "__shfl_down_sync(0xffffffffu, v, d);",
          "int v = in[threadIdx.x]; const int w = __shfl_xor_sync(0xffffffffu, v, 1); out[threadIdx.x] = w;",
          "int v = in[threadIdx.x]; v = max(v, __shfl_sync(~0u, v, 0, 8)); __syncwarp(); "
          "out[threadIdx.x] = v;",
          "atomicAdd(out, 1); __syncthreads();",
          "cg::thread_block b = cg::this_thread_block(); out[threadIdx.x] = 1; cg::sync(b); out[0] = 2;",
          "auto b = cooperative_groups::this_thread_block(); if (n > 3) { b.sync(); } "
          "s[b.thread_rank()] = 1;",
          "cg::thread_block b = cg::this_thread_block(); for (int i = 0; i < b.size(); ++i) b.sync();",
          "for (int i = 0; i < n; ++i) { atomicAdd(out, 1); } __syncthreads();",
          "n -= threadIdx.x; __syncthreads(); out[threadIdx.x] = n;",
          "float x[2] = {0, 1}; __syncthreads(); out[0] = x[threadIdx.x % 2];"}) {
        CAPTURE(body);
        CHECK(fate_of_body(body) == taken);
    }
}

TEST_CASE("Ways to a barrier that may differ", "[simt][cu2cpp][lanes]") {
    const std::string branch = left("a barrier where not all threads may come");
    const std::string loop = left("a barrier in a loop that threads may leave one by one");
    CHECK(fate_of_body("if (threadIdx.x < 8) __syncthreads();") == branch);
    CHECK(fate_of_body("if (in[threadIdx.x] > 0) { __syncthreads(); }") == branch);
    CHECK(fate_of_body("int x = in[threadIdx.x]; while (x > 0) { __syncthreads(); --x; }") == branch);
    CHECK(fate_of_body("for (int i = threadIdx.x; i < n; i += 64) __syncthreads();") == loop);
    CHECK(fate_of_body("for (int i = 0; i < in[threadIdx.x]; ++i) __syncthreads();") == loop);
    CHECK(fate_of_body("for (int i = 0; i < n; i += 1 + threadIdx.x) __syncthreads();") == loop);
    CHECK(fate_of_body(
              "int k = 0; if (threadIdx.x == 3) k = 1; for (int i = k; i < n; ++i) __syncthreads();") ==
          loop);
    CHECK(fate_of_body("int k = 0; int* p = &k; *p = threadIdx.x; while (k < n) { __syncthreads(); ++k; }") ==
          branch);
    CHECK(fate_of_body("int k = 0; int& r = k; r = threadIdx.x; while (k < n) { __syncthreads(); ++k; }") ==
          branch);
    CHECK(fate_of_body("for (int t = 0; t < n; ++t) { if (threadIdx.x == 3) break; __syncthreads(); }") ==
          branch);
    CHECK(fate_of_body("switch (n) { case 1: __syncthreads(); }") == left("a barrier in a switch"));
    CHECK(fate_of_body("int k = 0; set(k); while (k < n) { __syncthreads(); ++k; }",
                       "__device__ void set(int& k) { k = threadIdx.x; } ") == branch);
    CHECK(fate_of_body("if (lane() < 8) __syncthreads();",
                       "__device__ int lane() { return threadIdx.x % 32; } ") == branch);
    CHECK(fate_of_body("if (LANE < 8) __syncthreads();", "#define LANE (threadIdx.x % 32)\n") ==
          left("the macro `LANE`"));
}

TEST_CASE("Waits that are not understood", "[simt][cu2cpp][lanes]") {
    CHECK(fate_of_body("int v = n; v += 1 + (n > 3 ? __shfl_sync(~0u, v, 0) : 0);") ==
          left("a wait inside an expression"));
    CHECK(fate_of_body("int v = in[threadIdx.x]; v += __shfl_sync(~0u, v, threadIdx.x % 4);") ==
          left("a wait inside an expression"));
    CHECK(fate_of_body("int v = in[0]; v += __shfl_sync(~0u, v, 0) + __shfl_sync(~0u, v, 1);") ==
          left("a wait inside an expression"));
    CHECK(fate_of_body("__syncthreads(); wait();", "__device__ void wait() { __syncthreads(); } ") ==
          left("a call of `wait`"));
    CHECK(fate_of_body("__syncthreads(); outer();",
                       "__device__ void wait() { __syncwarp(); } __device__ void outer() { wait(); } ") ==
          left("a call of `outer`"));
    CHECK(fate_of_body("__syncthreads(); elsewhere();", "__device__ void elsewhere(); ") ==
          left("a call of `elsewhere`"));
    CHECK(fate_of_body("__syncthreads(); nobody_knows(n);") == left("a call of `nobody_knows`"));
    CHECK(fate_of_body("__syncthreads(); A a; a.f();", "struct A { __device__ void f(); }; ") ==
          left("a call of `f`"));
    const std::string maker =
        "struct M { int x; __device__ M(int y) : x(y) {} __device__ operator int() { return x; } }; ";
    CHECK(fate_of_body("int m = M(3); __syncthreads(); out[0] = m + M(n);", maker) == taken);
    CHECK(fate_of_body("__syncthreads(); int m = M(3);",
                       "struct M { __device__ M(int) { __syncthreads(); } }; ") ==
          left("a member function or an operator of the program waits"));
    CHECK(fate_of_body("__syncthreads(); A a; a = a + a;",
                       "struct A { __device__ A operator+(A) { __syncthreads(); return *this; } }; ") ==
          left("a member function or an operator of the program waits"));
    CHECK(fate_of_body("__syncthreads(); while (atomicAdd(out, 0) == 0) {}") ==
          left("a loop that may wait for what another thread does"));
    for (const std::string loop :
         {"while (*p == 0);", "while (*p == 0) {}", "do {} while (*p == 0);", "do ; while (*p == 0);"})
        CHECK(fate_of_body("volatile int* p = out; __syncthreads(); " + loop) ==
              left("a loop that may wait for what another thread does"));
    CHECK(fate_of_body("__syncthreads(); int i = 0; while (out[i++] == 0);") == taken);
    CHECK(fate_of_body("__syncthreads(); int i = 0; do ++i; while (out[i] == 0);") == taken);
    CHECK(fate_of_body("__syncthreads(); poll(out);",
                       "__device__ void poll(int* p) { while (atomicMax(p, 0) == 0) {} } ") ==
          left("a call of `poll`"));
    CHECK(fate_of_body("__syncthreads(); atomicCAS(out, 0, 1);") == left("`atomicCAS`"));
    CHECK(fate_of_body("__syncthreads(); __threadfence();") == left("`__threadfence`"));
    CHECK(fate_of_body("__syncthreads(); int x = __ballot_sync(~0u, n);") == left("`__ballot_sync`"));
    CHECK(fate_of_body("__syncthreads(); auto f = [&] { return n; };") == left("a lambda"));
    CHECK(fate_of_body("cg::thread_block b = cg::this_thread_block(); reduce(b); cg::sync(b);",
                       "__device__ void reduce(cg::thread_block b) { cg::sync(b); } ") ==
          left("a call of `reduce`"));
    CHECK(
        fate_of_body("cg::thread_block b = cg::this_thread_block(); if (b.thread_rank() < 3) cg::sync(b);") ==
        left("a barrier where not all threads may come"));
    for (const std::string group :
         {"cg::thread_group b = cg::tiled_partition(cg::this_thread_block(), n);",
          "auto b = cg::tiled_partition<4>(cg::this_thread_block());",
          "auto b = n > 3 ? cg::this_thread_block() : other();", "auto b = cg::this_thread_block(), c = b;",
          "cg::thread_block b(cg::this_thread_block());", "auto b = f(cg::this_thread_block());"}) {
        CAPTURE(group);
        CHECK_FALSE(fate_of_body(group + " b.sync(); out[threadIdx.x] = b.thread_rank();") == taken);
    }
    CHECK(fate_of_body("auto b = cg::this_thread_block(); auto t = cg::tiled_partition<32>(b); t.sync();") ==
          left("`cg`"));
    CHECK(fate_of_body("cg::grid_group g = cg::this_grid(); g.sync();") == left("`cg`"));
    CHECK(fate_of_body("again: __syncthreads(); if (n) goto again;") == left("a label"));
    CHECK(fate_of_body("__syncthreads();\n#if X\nout[0] = 1;\n#endif\n") == left("a directive in its body"));
    CHECK(fate_of_body("__syncthreads(); STOP;", "#define STOP return\n") == left("the macro `STOP`"));
    CHECK(fate_of_body("int x = in[threadIdx.x]; __syncthreads(); out[0] = X;", "#define X x\n") ==
          left("the macro `X`"));
}

TEST_CASE("Variables that cannot be kept from one loop to another", "[simt][cu2cpp][lanes]") {
    CHECK(fate_of_body("auto x = in[threadIdx.x]; __syncthreads(); out[0] = x;") ==
          left("a type that is not written out, of `x`, which outlives a barrier"));
    CHECK(fate_of_body("int x = in[threadIdx.x]; int* p = &x; __syncthreads(); out[0] = *p;") ==
          left("the address of `x`, which may outlive a barrier"));
    CHECK(fate_of_body("int x[4]; int* p = x; __syncthreads(); out[0] = p[threadIdx.x];") ==
          left("the address of `x`, which may outlive a barrier"));
    CHECK(fate_of_body("int x[4]; int* p = &x[1]; __syncthreads(); out[0] = p[threadIdx.x];") ==
          left("the address of `x`, which may outlive a barrier"));
    CHECK(fate_of_body("auto [x, y] = pair(n); __syncthreads(); out[0] = x;") ==
          left("a declaration that cannot be read"));
    CHECK(fate_of_body("union { int i; float f; } u; u.i = 1; __syncthreads(); out[0] = u.i;") ==
          left("a type that is not written out, of `u`, which outlives a barrier"));
    CHECK(fate_of_body("auto x = in[threadIdx.x]; out[0] = x; __syncthreads();") == taken);
    CHECK(fate_of_body("{ int x = 1; int* p = &x; out[0] = *p; } __syncthreads();") == taken);
}

TEST_CASE("Text that no compiler reads is left to the compiler", "[simt][cu2cpp][lanes]") {
    for (const std::string body :
         {"__syncthreads(); if", "__syncthreads(); for (;;", "__syncthreads(); do x;",
          "if (n __syncthreads();", "__syncthreads(", "while () __syncthreads();"}) {
        CAPTURE(body);
        CHECK_NOTHROW(translation("__global__ void k(int n) { " + body + " }", by_loops()));
        CHECK_NOTHROW(translation("__global__ void k(int n) { " + body, by_loops()));
    }
    std::string deep = "__syncthreads();";
    for (int i = 0; i < 400; ++i) deep = "if (n) " + deep;
    CHECK(fate_of_body(deep) == left("statements nested too deep"));
}

TEST_CASE("A loop of device code that only looks lets other lanes run", "[simt][cu2cpp][lanes]") {
    const auto waits = [](const std::string& loop) {
        return translation("__device__ void f(volatile int* p) { " + loop + " }");
    };
    const std::string rest = "::simt::let_others_run()";
    CHECK_THAT(waits("while (*p == 0);"), Catch::Matchers::EndsWith("while (*p == 0) " + rest + "; }"));
    CHECK_THAT(waits("while (*p == 0) {}"), Catch::Matchers::EndsWith("while (*p == 0) {" + rest + ";} }"));
    CHECK_THAT(waits("do {} while (*p == 0);"),
               Catch::Matchers::EndsWith("do {" + rest + ";} while (*p == 0); }"));
    CHECK_THAT(waits("do ; while (*p == 0);"),
               Catch::Matchers::EndsWith("do " + rest + "; while (*p == 0); }"));
    for (const std::string loop :
         {"while (*p == 0) ++n;", "do ++n; while (*p == 0);", "do { ++n; } while (*p == 0);",
          "while (*p++ == 0);", "while ((n = *p) == 0) {}", "while (true) {}", "while (1);"}) {
        CAPTURE(loop);
        CHECK(waits(loop).find(rest) == std::string::npos);
    }
    CHECK(translation("void f(int* p) { while (*p == 0); }") == "void f(int* p) { while (*p == 0); }");
}
