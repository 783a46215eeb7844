/// @file
/// Shared memory, static and dynamic, in every shape that a declaration can have.

#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

/// A declaration as a kernel's only statement; what the translator makes of it.
std::string in_kernel(const std::string& declaration) {
    const std::string before = "__global__ void k() { ";
    const std::string out = translation(before + declaration + " }");
    CHECK(refusals(before + declaration + " }").empty());
    REQUIRE(starts_with(out, before));
    return out.substr(before.size(), out.size() - before.size() - 2);
}

/// The statements behind a static declaration that bind one name.
std::string bound(const std::string& name) {
    return " static ::simt::SharedKey simt_key_" + name + "; simt_type_" + name + "& " + name +
           " = ::simt::shared<simt_type_" + name + ">(simt_key_" + name + ", \"" + name + "\");";
}

std::string bound_dynamic(const std::string& name) {
    return " simt_type_" + name + "* const " + name + " = ::simt::dynamic_shared<simt_type_" + name + ">(\"" +
           name + "\");";
}

}  // namespace

TEST_CASE("A shared variable becomes a reference into the block's memory", "[simt][cu2cpp][shared]") {
    CHECK(in_kernel("__shared__ float a[16];") == "typedef float simt_type_a[16];" + bound("a"));
    CHECK(in_kernel("__shared__ int a;") == "typedef int simt_type_a;" + bound("a"));
    CHECK(in_kernel("__shared__ float a[N][N + 1][2];") ==
          "typedef float simt_type_a[N][N + 1][2];" + bound("a"));
    CHECK(in_kernel("__shared__ unsigned long long a;") ==
          "typedef unsigned long long simt_type_a;" + bound("a"));
    CHECK(in_kernel("__shared__ float a[16], b[N][17], *q, c;") ==
          "typedef float simt_type_a[16], simt_type_b[N][17], *simt_type_q, simt_type_c;" + bound("a") +
              bound("b") + bound("q") + bound("c"));
}

TEST_CASE("Element types of every shape", "[simt][cu2cpp][shared]") {
    for (const std::string type :
         {"T", "ns::T", "::ns::T", "A<int>", "A<B<int>, 3>", "typename A<T>::type",
          "typename A<T>::template B<3>::type", "struct Q", "cuda::barrier<cuda::thread_scope_block>",
          "decltype(x)", "float4", "long long int", "const T"}) {
        CAPTURE(type);
        CHECK(in_kernel("__shared__ " + type + " a[4];") ==
              "typedef " + type + " simt_type_a[4];" + bound("a"));
    }
    CHECK(in_kernel("__shared__ struct Q { int x; float y[2]; } q[32];") ==
          "typedef struct Q { int x; float y[2]; } simt_type_q[32];" + bound("q"));
    CHECK(in_kernel("__shared__ union { int i; float f; } u;") ==
          "typedef union { int i; float f; } simt_type_u;" + bound("u"));
    CHECK(in_kernel("__shared__ float (*table)[4];") ==
          "typedef float (*simt_type_table)[4];" + bound("table"));
    CHECK(in_kernel("__shared__ int (*f[2])(int, float);") ==
          "typedef int (*simt_type_f[2])(int, float);" + bound("f"));
}

TEST_CASE("Specifiers around __shared__ in any order", "[simt][cu2cpp][shared]") {
    CHECK(in_kernel("volatile __shared__ float a[4];") ==
          "volatile typedef float simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("__shared__ volatile float a[4];") ==
          "typedef volatile float simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("static __shared__ float a[4];") == "typedef float simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("__shared__ static float a[4];") == "typedef float simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("__device__ __shared__ float a[4];") == "typedef float simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("float __shared__ a[4];") == "float typedef simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("Pair __shared__ a[4];") == "Pair typedef simt_type_a[4];" + bound("a"));
    CHECK(in_kernel("f(); __shared__ int a;") == "f(); typedef int simt_type_a;" + bound("a"));
}

TEST_CASE("Alignment is kept", "[simt][cu2cpp][shared]") {
    const std::string expected =
        "typedef float simt_type_a[4]; struct alignas ( 16 ) simt_aligned_a { simt_type_a value; }; static "
        "::simt::SharedKey "
        "simt_key_a; simt_type_a& a = ::simt::shared<simt_aligned_a>(simt_key_a, \"a\").value;";
    CHECK(in_kernel("alignas(16) __shared__ float a[4];") == expected);
    CHECK(in_kernel("__shared__ alignas(16) float a[4];") == expected);
    CHECK(in_kernel("__shared__ float alignas(16) a[4];") == expected);
    CHECK(in_kernel("__shared__ __align__(8) T a;").find("struct __align__ ( 8 ) simt_aligned_a") !=
          std::string::npos);
}

TEST_CASE("Dynamic shared memory is a pointer", "[simt][cu2cpp][shared]") {
    CHECK(in_kernel("extern __shared__ float a[];") == "typedef float simt_type_a ;" + bound_dynamic("a"));
    CHECK(in_kernel("extern __shared__ T a[];") == "typedef T simt_type_a ;" + bound_dynamic("a"));
    CHECK(in_kernel("extern __shared__ float a[][16];") ==
          "typedef float simt_type_a [16];" + bound_dynamic("a"));
    CHECK(in_kernel("extern volatile __shared__ int a[];") ==
          "volatile typedef int simt_type_a ;" + bound_dynamic("a"));
    CHECK(in_kernel("extern __shared__ __align__(sizeof(T)) unsigned char a[];") ==
          "typedef unsigned char simt_type_a ;" + bound_dynamic("a"));
    CHECK(in_kernel("extern __shared__ int a;") ==
          "typedef int simt_type_a; simt_type_a& a = *::simt::dynamic_shared<simt_type_a>(\"a\");");
    SECTION("at namespace scope every use looks it up") {
        const std::string declaration = "extern __shared__ float a[];";
        const std::string expected =
            "typedef float simt_type_a ; [[maybe_unused]] static constexpr "
            "::simt::DynamicShared<simt_type_a> a{\"a\"};";
        CHECK(translation(declaration) == expected);
        CHECK(translation("namespace n { " + declaration + " }") == "namespace n { " + expected + " }");
        CHECK(translation(declaration + " " + declaration) == expected + " typedef float simt_type_a ;");
    }
}

TEST_CASE("Shared variables outside functions are bound where they are used", "[simt][cu2cpp][shared]") {
    const std::string declaration = "__shared__ float a[4], b;";
    const std::string declared =
        "typedef float simt_type_a[4], simt_type_b; [[maybe_unused]] static ::simt::SharedKey simt_key_a; "
        "[[maybe_unused]] static ::simt::SharedKey simt_key_b; ";
    const std::string a = "simt_type_a& a = ::simt::shared<simt_type_a>(simt_key_a, \"a\"); ";
    const std::string b = "simt_type_b& b = ::simt::shared<simt_type_b>(simt_key_b, \"b\"); ";
    const auto unchanged = [&](const std::string& text) {
        CHECK(translation(declaration + " " + text) == declared + text);
    };
    CHECK(translation(declaration + " __global__ void k() { a[0] = b; }") ==
          declared + "__global__ void k() { " + a + b + "{ a[0] = b; } }");
    CHECK(translation("static " + declaration + " __global__ void k() { if (1) { b = 1; } }") ==
          declared + "__global__ void k() { " + b + "{ if (1) { b = 1; } } }");
    SECTION("but not what else has that name") {
        unchanged("__global__ void k(float* a) { *a = 1; }");
        unchanged("__global__ void k(S s, S* p) { s.a = p->b = n::a; }");
        unchanged("__global__ void k() { c = 1; }");
        unchanged("void on_the_host() { int a = 0; }");
        unchanged("struct S { int a; __device__ int f() { return a; } };");
        unchanged("__device__ int S::f() { return a; }");
        CHECK(translation("__global__ void k() { a(); } " + declaration).find("{ a(); }") !=
              std::string::npos);
    }
}

TEST_CASE("Lines stay in shared declarations", "[simt][cu2cpp][shared]") {
    const std::string text =
        "void f() {\n  static\n  __shared__ // why\n  float\n   a[16], /* and\n */ b\n  [2]\n  ;\n  "
        "g();\n}\n";
    const std::string out = raw_translation(text);
    CHECK(count_lines(out) == count_lines(text));
    CHECK(out.find("\n  g();\n}\n") != std::string::npos);
    CHECK(out.find("// why\n  float\n   simt_type_a[16], /* and\n */ simt_type_b\n  [2]\n  ;") !=
          std::string::npos);
    // Columns too, up to the first name.
    CHECK(raw_translation("void f() { __shared__ T a; }").find("typedef    T simt_type_a;") == 11);
}

TEST_CASE("Shared declarations under #if are each translated", "[simt][cu2cpp][shared]") {
    const std::string text =
        "__global__ void k() {\n#ifdef WIDE\n__shared__ float a[2];\n#else\n__shared__ float "
        "a[1];\n#endif\n}\n";
    CHECK(translation(text) == "__global__ void k() { #ifdef WIDE typedef float simt_type_a[2];" +
                                   bound("a") + " #else typedef float simt_type_a[1];" + bound("a") +
                                   " #endif }");
}

TEST_CASE("Macros may hold whole shared declarations", "[simt][cu2cpp][shared][macro]") {
    CHECK(translation("#define TILE __shared__ float tile[16]\n") ==
          "#define TILE typedef float simt_type_tile[16]; static ::simt::SharedKey simt_key_tile; "
          "simt_type_tile& tile = "
          "::simt::shared<simt_type_tile>(simt_key_tile, \"tile\")");
    CHECK(translation("#define TILE(T, name, n) __shared__ T name[n];\n") ==
          "#define TILE(T, name, n) typedef T simt_type_##name[n]; static ::simt::SharedKey simt_key_##name; "
          "simt_type_##name& name = ::simt::shared<simt_type_##name>(simt_key_##name, #name);");
}

TEST_CASE("Shared declarations that cannot be translated are refused", "[simt][cu2cpp][shared][refusal]") {
    CHECK(starts_with(refusal("void f() {\n  __shared__ int a = 3;\n}"),
                      "2:20: initialiser of a `__shared__` variable; shared memory starts undefined"));
    CHECK(starts_with(refusal("void f() { __shared__ int a[2] = {1, 2}; }"), "1:32: initialiser"));
    CHECK(starts_with(refusal("void f() { __shared__ int a{3}; }"), "1:28: initialiser"));
    CHECK(starts_with(refusal("void f() { __shared__ T a(3); }"), "1:26: initialiser"));
    CHECK(
        starts_with(refusal("struct S { __shared__ float a[4]; };"), "1:12: `__shared__` member of a class"));
    CHECK(starts_with(refusal("__global__ void k() { __shared__ float t[2][blockDim.x + 1]; }"),
                      "1:45: size of a `__shared__` array that is known only at run time; write a constant"));
    CHECK(starts_with(refusal("__shared__ int a = 3;"), "1:18: initialiser of a `__shared__` variable"));
    CHECK(starts_with(refusal("void f() { __shared__; }"),
                      "1:12: `__shared__` without a complete declaration"));
    CHECK(starts_with(refusal("void f() { __shared__ float }"), "1:12: `__shared__` without"));
    CHECK(starts_with(refusal("void f(__shared__ float* p);"), "1:8: `__shared__` without"));
    SECTION("an alias of the word is refused where it is used") {
        CHECK(refusals("#define SHARED __shared__\n").empty());
        CHECK(starts_with(
            refusal("#define SHARED __shared__\nvoid f() { SHARED float a[4]; }\n"),
            "2:12: macro `SHARED` cannot be translated; its definition at t.cu:1 hides `__shared__`"));
        CHECK(refusals("#define SHARED __shared__\n#define MORE SHARED int\nvoid f() { MORE a; }\n").size() ==
              1);
    }
}
