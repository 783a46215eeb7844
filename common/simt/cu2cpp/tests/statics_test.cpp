/// @file
/// Static variables of device functions, instances of variable templates, and addresses of device functions.

#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

std::string told(const std::string& name, const std::string& kind = "device") {
    return " static ::simt::StaticKey simt_static_" + name + "; ::simt::device_static(simt_static_" + name +
           ", " + name + " , \"" + name + "\", ::simt::SymbolKind::" + kind + ");";
}

/// A statement of a kernel; what the translator makes of it.
std::string statement_in_kernel(const std::string& statement) {
    const std::string before = "__global__ void k() { ";
    const std::string out = translation(before + statement + " }");
    REQUIRE(starts_with(out, before));
    return out.substr(before.size(), out.size() - before.size() - 2);
}

void left_as_it_is(const std::string& text) {
    CAPTURE(text);
    CHECK(raw_translation(text) == text);
}

}  // namespace

TEST_CASE("A static variable of a device function is told to the runtime", "[simt][cu2cpp][static]") {
    CHECK(statement_in_kernel("static int n;") == "static int n;" + told("n"));
    CHECK(statement_in_kernel("static unsigned n = 0, *p, a[4] = {1};") ==
          "SIMT_STATIC unsigned n = 0, *p, a[4] = {1};" + told("n") + told("p") + told("a"));
    CHECK(statement_in_kernel("static __constant__ float w[2];") ==
          "static __constant__ float w[2];" + told("w", "constant"));
    CHECK(statement_in_kernel("static const char* t = \"a\";") ==
          "SIMT_STATIC const char* t = \"a\";" + told("t"));
    CHECK(statement_in_kernel("if (x) { static T n; }") == "if (x) { static T n;" + told("n") + " }");
    CHECK(translation("struct S { __device__ int f() { static int n; return n; } };") ==
          "struct S { __device__ int f() { static int n;" + told("n") + " return n; } };");
    CHECK(translation("void h() { k<<<1, 1>>>([] __device__() { static int n; }); }").find(told("n")) !=
          std::string::npos);
    // Constants have no memory of their own, and the host's variables are the host's.
    for (const std::string statement :
         {"static constexpr int n = 1;", "static const float w[2] = {1, 2};", "static T& r = v;",
          "static_assert(n > 0);", "for (static int i = 0; i < 2;) {}"}) {
        left_as_it_is("__global__ void k() { " + statement + " }\n");
    }
    left_as_it_is("int h() { static int n = 0; return ++n; }\nstatic int v = 0;\n");
    left_as_it_is("Foo& foo() { static Foo f; return f; }\n");
}

TEST_CASE("Host and device have a static variable each of a function for both", "[simt][cu2cpp][static]") {
    CHECK(translation("__host__ __device__ int f() { static int n = 0; return ++n; }") ==
          "__host__ __device__ int f() { auto& n = ::simt::of_side([&](auto) -> auto& { static int n = 0 ; "
          "return n ; }, "
          "\"n\") ; return ++n; }");
    CHECK(translation("#define HD __host__ __device__\nHD int f() { static int n, a[2]; return ++n; }")
              .find("of_side") != std::string::npos);
    CHECK(translation("#define COUNT() do { static int n; ++n; } while (0)\n").find("of_side") !=
          std::string::npos);
    left_as_it_is("#define COUNTER(n) static int n = 0\n");
    left_as_it_is("__host__ __device__ int f() { static const int n = 4; int a[n]; return a[0]; }\n");
}

TEST_CASE("An instance of a variable template is announced where it is used", "[simt][cu2cpp][static]") {
    const std::string head = "template <class T> __device__ T v; ";
    CHECK(translation(head + "__global__ void k() { v<int> = ns::v<T*>; }") ==
          head +
              "__global__ void k() { ::simt::device_variable<&v<int>>(\"v<int>\", "
              "::simt::SymbolKind::device) = "
              "::simt::device_variable<&ns::v<T*>>(\"v<T*>\", ::simt::SymbolKind::device); }");
    left_as_it_is(
        "template <class T> constexpr __device__ T v = 1;\n__global__ void k() { int a[v<int>]; }\n");
    left_as_it_is("template <class T> T v;\nvoid h() { v<int> = 1; }\n");
}

TEST_CASE("The host has another address of a device function", "[simt][cu2cpp][static]") {
    const std::string head = "__device__ __forceinline__ float f(float); ";
    const std::string told_head = "SIMT_LOCAL __forceinline__ float f(float); ";
    const auto on_host = [&](const std::string& text) {
        const std::string out = translation(head + "void h() { " + text + " }");
        REQUIRE(starts_with(out, told_head + "void h() { "));
        return out.substr(told_head.size() + 11, out.size() - told_head.size() - 13);
    };
    CHECK(on_host("Op p = f;") == "Op p = ::simt::of_host(f, \"f\");");
    CHECK(on_host("Op p = &f;") == "Op p = ::simt::of_host(f, \"f\");");
    CHECK(on_host("Op p[] = {f, f};") == "Op p[] = {::simt::of_host(f, \"f\"), ::simt::of_host(f, \"f\")};");
    for (const std::string text :
         {"g<f>();", "g<int, f, 2>();", "using F = decltype(f);", "int f = 1, y = f;"})
        CHECK(on_host(text) == text);
    CHECK(translation(head + "Op p = f;") == told_head + "Op p = ::simt::of_host(f, \"f\");");
    CHECK(translation(head + "__device__ Op p = f;").find("of_host") == std::string::npos);
    CHECK(translation(head + "__global__ void k() { Op p = f; }").find("of_host") == std::string::npos);
    CHECK(translation("__host__ " + head + "void h() { Op p = f; }").find("of_host") == std::string::npos);
    CHECK(translation(head + "__device__ float f(int); void h() { Op p = f; }").find("of_host") ==
          std::string::npos);
}
