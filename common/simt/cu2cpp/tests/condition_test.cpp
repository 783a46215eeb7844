/// @file
/// `__CUDA_ARCH__`, which is defined in device code only, and shifts.

#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

const std::string outside =
    "`__CUDA_ARCH__` cannot be translated here; host and device are compiled at once, and this is for both; "
    "ask inside the functions, or ask for `__SIMT__` first, which only the CPU backend defines";
const std::string in_both =
    "`__CUDA_ARCH__` cannot be translated here; host and device are compiled at once, and this function is "
    "for both; let each branch be whole statements whose variables are not used behind `#endif`, and ask for "
    "nothing else beside it";

void left_alone(const std::string& text) {
    CAPTURE(text);
    CHECK(raw_translation(text) == text);
    CHECK(refusals(text).empty());
}

/// What a condition becomes in a kernel.
std::string kernel_condition(const std::string& condition) {
    const std::string text = translation("__global__ void k() {\n" + condition + "\na();\n#endif\n}\n");
    const std::string front = "__global__ void k() { ", back = " a(); #endif }";
    REQUIRE(text.size() > front.size() + back.size());
    return text.substr(front.size(), text.size() - front.size() - back.size());
}

/// What an expression becomes in a kernel.
std::string shifted(const std::string& expression) {
    const std::string text = raw_translation("__global__ void k() { " + expression + "; }");
    return text.substr(22, text.size() - 22 - 3);
}

}  // namespace

TEST_CASE("Device code sees the architecture", "[simt][cu2cpp][architecture]") {
    CHECK(kernel_condition("#ifdef __CUDA_ARCH__") == "#if 1");
    CHECK(kernel_condition("#ifndef __CUDA_ARCH__  // why") == "#if 0 // why");
    CHECK(kernel_condition("#if __CUDA_ARCH__ >= 700") == "#if 900 >= 700");
    CHECK(kernel_condition("# if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < X)") == "# if 1 && (900 < X)");
    CHECK(kernel_condition("#if !defined __CUDA_ARCH__ || Y") == "#if !1 || Y");
    CHECK(kernel_condition("#if X\n#elif __CUDA_ARCH__ > 1") == "#if X #elif 900 > 1");
    CHECK(kernel_condition("#if defined(__CUDA_ARCH_LIST__)") == "#if defined(__CUDA_ARCH_LIST__)");
    CHECK(translation(
              "struct S { __device__ int f() {\n#ifdef __CUDA_ARCH__\nreturn __CUDA_ARCH__;\n#endif\n} };") ==
          "struct S { __device__ int f() { #if 1 return 900 ; #endif } };");
    CHECK(translation("void f() { g([=] __device__ (int i) {\n#ifdef __CUDA_ARCH__\n#endif\n}); }") ==
          "void f() { g([=] __device__ (int i) { #if 1 #endif }); }");
}

TEST_CASE("Host code does not see the architecture", "[simt][cu2cpp][architecture]") {
    for (const std::string function :
         {"int main()", "static inline unsigned f(int a)", "template <class T> std::vector<T> f(const T& t)",
          "A::A() : a(1)", "void n::S<int>::f() const", "__host__ void f()", "cudaError_t f()"}) {
        left_alone(function + " {\n#if defined(__CUDA_ARCH__) && X\n f<<<1, 2;\n#endif\n}\n");
    }
    left_alone("__global__ void k() {}\nvoid f() {\n#ifndef __CUDA_ARCH__\n a();\n#endif\n}\n");
}

TEST_CASE("Between functions the architecture decides on device code", "[simt][cu2cpp][architecture]") {
    CHECK(
        translation("#if __CUDA_ARCH__ >= 700\n__device__ int f();\ntemplate <class T> __global__ void k(T) "
                    "{ if (1) {} }\n__constant__ int c[2];\n#else\n#endif\n")
            .substr(0, 14) == "#if 900 >= 700");
    CHECK(translation("#if __CUDA_ARCH__ < 600\nstatic __inline__ __device__ double add(double* a) { return "
                      "*a; }\n#endif\n")
              .substr(0, 13) == "#if 900 < 600");
    CHECK(
        translation("#ifdef __CUDA_ARCH__\n#if __CUDA_ARCH__ < 500\n#error \"too old\"\n#endif\n#endif\n") ==
        "#if 1 #if 900 < 500 #error \"too old\" #endif #endif");
    // The same on either side.
    left_alone("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\nint a;\n#else\nint b;\n#endif\n");
    left_alone("#if defined(__CUDA_ARCH__) || defined(__SIMT__)\n#define FAST 1\n#endif\n");
    left_alone("#if __CUDA_ARCH__ >= 10 * 100 + 1 && X\nint a;\n#endif\n");
    // Only the host's.
    left_alone("#ifndef __CUDA_ARCH__\n#include <vector>\nstd::vector<int> f();\n#endif\n");
}

TEST_CASE("A function for host and device decides when it runs", "[simt][cu2cpp][architecture]") {
    for (const std::string head :
         {"__host__ __device__ int f(int x)", "HOST_DEVICE int f(int x)", "constexpr int f(int x)",
          "template <class T> inline __device__ __host__ T f(T x)", "FORCE size_t f(int x)"}) {
        CAPTURE(head);
        const std::string text = translation(head +
                                             " {\nx += 1;\n#ifdef __CUDA_ARCH__\nint y = x; return y;\n#else "
                                             " // host\nreturn 1;\n#endif\n}\n");
        CHECK(text.substr(text.find('{')) ==
              "{ x += 1; if (::simt::on_device()) { int y = x; return y; } else { // host return 1; } }");
    }
    CHECK(translation(
              "__host__ __device__ int f() {\n#if !defined(__CUDA_ARCH__)\na();\n#elif __CUDA_ARCH__ >= "
              "800\nb();\n#else\nc();\n#endif\n}")
              .substr(28) ==
          "{ if (!::simt::on_device()) { a(); } else if (::simt::on_device()) { b(); } else { c(); } }");
    CHECK(translation(
              "__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\n#if __CUDA_ARCH__ > 800\nb();\n#endif\n"
              "#endif\n}")
              .substr(28) == "{ if (::simt::on_device()) { #if 900 > 800 b(); #endif } }");
    const std::string tail = "\n}\n";
    for (const std::string body : {"#ifdef __CUDA_ARCH__\nint y = 1;\n#else\nint y = 2;\n#endif\nreturn y;",
                                   "#ifdef __CUDA_ARCH__\nusing T = int;\n#endif\nT t;",
                                   "#if defined(__CUDA_ARCH__) && X\na();\n#endif",
                                   // Which standard the compiler gets is not known here.
                                   "#if defined(__CUDA_ARCH__) && __cplusplus >= 202002L\na();\n#endif",
                                   "#ifdef __CUDA_ARCH__\nif (x) {\n#else\n{\n#endif\n}",
                                   "#ifdef __CUDA_ARCH__\na() +\n#endif\nb();"}) {
        CAPTURE(body);
        CHECK(refusal("__host__ __device__ int f(int x) {\n" + body + tail) == "2:1: " + in_both);
    }
    CHECK(refusal("__host__ __device__ int f(int x) { if (x)\n#ifdef __CUDA_ARCH__\na();\n#endif\n}") ==
          "2:1: " + in_both);
}

TEST_CASE("A header of a library for the device does not harm the host", "[simt][cu2cpp][architecture]") {
    CHECK(translation("#if __CUDA_ARCH__ >= 700\n#include <cuda/barrier>\n#endif\n") ==
          "#if 900 >= 700 #include <cuda/barrier> #endif");
    CHECK(translation("#ifdef __CUDA_ARCH__\n#include <mma.h>\n__device__ void f();\n#endif\n") ==
          "#if 1 #include <mma.h> SIMT_LOCAL void f(); #endif");
}

TEST_CASE("What the architecture decides for both sides is refused",
          "[simt][cu2cpp][architecture][refusal]") {
    for (const std::string content :
         {"#define LDG(x) __ldg(x)\n#else\n#define LDG(x) *(x)", "struct A {};\n#else\nstruct A { int x; };",
          "#include \"device.h\"", "#include <a>\n#else\n#include <b>",
          "__device__ int f();\n#else\nint f();",
          "__host__ __device__ int f() { return 1; }\n#else\n__device__ int f() { return 2; }",
          "__global__ void k() {\n#else\n__global__ void k(int) {"}) {
        CAPTURE(content);
        CHECK(refusal("int a;\n#ifdef __CUDA_ARCH__\n" + content + "\n#endif\n") == "2:1: " + outside);
    }
    CHECK(refusal("#define NEW (__CUDA_ARCH__ >= 700)\n__global__ void k() {\n#if NEW\n#endif\n}") ==
          "3:1: `__CUDA_ARCH__` cannot be translated here; host and device are compiled at once, and macro "
          "`NEW` hides it; ask for `__CUDA_ARCH__` itself");
    CHECK(starts_with(
        refusal("#define NEW (__CUDA_ARCH__ >= 700)\n__global__ void k() { if (NEW) a(); }"),
        "2:27: macro `NEW` cannot be translated; its definition at t.cu:1 hides `__CUDA_ARCH__`"));
    // Under another condition the compiler decides.
    CHECK(translation("#ifdef X\n#ifdef __CUDA_ARCH__\n#define Y\n#endif\n#endif\n") ==
          "#ifdef X #if \"" + outside + "\" #define Y #endif #endif");
}

TEST_CASE("A constant that is another for the host is the device's, where that may be", "[simt][cu2cpp]") {
    cu2cpp::TranslateOptions lenient;
    lenient.lenient = true;
    const auto result = [&](const std::string& text) { return cu2cpp::translate(text, "t.cu", lenient); };
    const std::string constants =
        "#if __CUDA_ARCH__ >= 200\nconst int A = 48 * 2, B = 2;\n#else\nconst int B = 1, A = 16;\n#endif\n";
    const std::string enumerators =
        "struct S { enum { C = 1,\n#ifdef __CUDA_ARCH__\nA = (__CUDA_ARCH__ > 2 ? 1 : 2), B = 3,\n#else\nA = "
        "2, B = 2,\n#endif\nD = A }; int a[A]; };\n";
    CHECK(refusal(constants) == "1:1: " + outside);
    CHECK(refusal(enumerators) == "2:1: " + outside);
    for (const std::string& both : {constants, enumerators}) {
        for (const std::string same : {"__global__ void k(int* p) { *p = A; }\n", "const int n = A;\n",
                                       "void host() { int A = 3; f(A); f(a.B); }\n"}) {
            const cu2cpp::Translation use = result(both + same);
            CAPTURE(same);
            REQUIRE(use.diagnostics.empty());
            REQUIRE(use.notes.size() == 2);
            CHECK(use.notes[1].message ==
                  "`B` has the value for devices here, in declarations of the host, too");
            CHECK(cu2cpp::apply(both + same, use.edits).find("_ARCH") == std::string::npos);
        }
        for (const std::string host :
             {"void host() { f(A); }", "__host__ __device__ int f() { return A; }"}) {
            const cu2cpp::Translation use = result(both + host);
            REQUIRE(use.diagnostics.size() == 1);
            CHECK(use.diagnostics[0].message ==
                  "`A`, which `__CUDA_ARCH__` makes another for the host; host and device are compiled at "
                  "once, and here it is the device's; give it two names");
        }
    }
    for (const std::string other :
         {"const int B = 1;", "int A = 1;", "const int A = 1; void f();", "\n#define A 1\n",
          "const int* A = p;", "const int A = 1;\n#if X\n#endif\n", "A = 1,", ""}) {
        CAPTURE(other);
        const auto refused = result("#ifdef __CUDA_ARCH__\nconst int A = 2;\n#else\n" + other + "\n#endif\n");
        REQUIRE(refused.diagnostics.size() == 1);
        CHECK(refused.diagnostics[0].message == outside);
    }
}

TEST_CASE("Shifts in device code are the hardware's", "[simt][cu2cpp][shift]") {
    CHECK(shifted("a = b << n") == "a = b $L n");
    CHECK(shifted("a = b >> n") == "a = b $R n");
    CHECK(shifted("a <<= n") == "a $L_ n");
    CHECK(shifted("a >>= n + 1") == "a $R_ n + 1");
    CHECK(shifted("a = b<<n") == "a = b $L n");
    CHECK(shifted("a = b>>n") == "a = b $R n");
    CHECK(shifted("a = 1 << 32") == "a = 1 $L 32");
    CHECK(shifted("a = 1 << 3 + n") == "a = 1 $L 3 + n");
    CHECK(shifted("i < n >> m") == "i < n $R m");
    CHECK(shifted("f<int>(n >> m)") == "f<int>(n $R m)");
    for (const std::string same :
         {"a = b << 3", "a = b >> 31u", "a >>= 1", "a = 1 << 3 << 4 | b", "V<V<int>> v", "V<V<V<int>>> v(n)",
          "T<(1 > 0), U<int>> t = n", "a = f<g<int>>(n)"}) {
        CAPTURE(same);
        CHECK(shifted(same) == same);
    }
    left_alone("int f(int n) { return 1 << n; }\nconst int a = 1 << f(2);\n");
    left_alone("struct S { __device__ S operator<<(int) const; __device__ S& operator>>=(int); };\n");
    CHECK(translation("__host__ __device__ int f(int n) { std::cout << n; return 1 << n; }") ==
          "__host__ __device__ int f(int n) { std::cout << n; return 1 $L n; }");
    CHECK(translation("#define ROT(x, n) ((x) << (n) | (x) >> 32 - (n))\n#define BIT (1 << SOME)\n"
                      "#define PRINT(x) cout << (x) << '\\n'\n") ==
          "#define ROT(x, n) ((x) $L (n) | (x) $R 32 - (n)) #define BIT (1 << SOME) "
          "#define PRINT(x) cout << (x) << '\\n'");
}
