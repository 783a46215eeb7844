/// @file
/// Device variables and functions, pragmas, attributes, inline assembly, headers: the rest of the translator.

#include "cu2cpp/lexer.h"
#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

std::string symbol(const std::string& name, const std::string& kind, std::string id = {}) {
    if (id.empty()) id = name;
    return " static const ::simt::Symbol simt_symbol_" + id + "(&" + name + ", sizeof " + name + ", \"" +
           name + "\", ::simt::SymbolKind::" + kind + "); SIMT_RED_ZONE(simt_symbol_" + id + ")";
}

void unchanged(const std::string& text) {
    CAPTURE(text);
    CHECK(raw_translation(text) == text);
    CHECK(refusals(text).empty());
}

}  // namespace

TEST_CASE("Device variables are registered and private to their file", "[simt][cu2cpp][symbol]") {
    CHECK(translation("__constant__ float c[3];") == "SIMT_LOCAL float c[3];" + symbol("c", "constant"));
    CHECK(translation("__device__ int v = 3;") == "SIMT_LOCAL int v = 3;" + symbol("v", "device"));
    CHECK(translation("__device__ __managed__ int v;") ==
          "SIMT_LOCAL __managed__ int v;" + symbol("v", "managed"));
    CHECK(translation("__constant__ float a[2] = {1, 2}, b{3}, *p = f<1, 2>();") ==
          "SIMT_LOCAL float a[2] = {1, 2}, b{3}, *p = f<1, 2>();" + symbol("a", "constant") +
              symbol("b", "constant") + symbol("p", "constant"));
    CHECK(translation("static __constant__ int n;") ==
          "static __constant__ int n;" + symbol("n", "constant"));
    CHECK(translation("inline __device__ int n;") == "inline __device__ int n;" + symbol("n", "device"));
    CHECK(translation("__device__ int (*f)(int) = g;") ==
          "SIMT_LOCAL int (*f)(int) = g;" + symbol("f", "device"));
    CHECK(translation("__device__ struct Q { int a; } q;") ==
          "SIMT_LOCAL struct Q { int a; } q;" + symbol("q", "device"));
    CHECK(translation("namespace a { namespace { __constant__ T c; } }") ==
          "namespace a { namespace { SIMT_LOCAL T c;" + symbol("c", "constant") + " } }");
    CHECK(translation("extern \"C\" { __device__ int v; }") ==
          "extern \"C\" { SIMT_LOCAL int v;" + symbol("v", "device") + " }");
    SECTION("a qualified definition") {
        CHECK(translation("namespace n { extern __device__ int v; }\n__device__ int n::v = 0;") ==
              "namespace n { extern __device__ int v; } __device__ int n::v = 0;" +
                  symbol("n::v", "device", "n_v"));
    }
    SECTION("an extern declaration keeps the variable visible") {
        CHECK(translation("extern __constant__ float c[4];\n__constant__ float c[4];") ==
              "extern __constant__ float c[4]; __constant__ float c[4];" + symbol("c", "constant"));
        unchanged("extern __device__ int v;\n");
        unchanged("extern \"C\" __constant__ float c[];\n");
    }
    SECTION("nvcc -rdc=true") {
        cu2cpp::TranslateOptions options;
        options.relocatable = true;
        CHECK(translation("__device__ int v;", options) == "__device__ int v;" + symbol("v", "device"));
        CHECK(translation("__device__ int f() { return 1; }", options) == "__device__ int f() { return 1; }");
    }
    unchanged("template <class T> __device__ T zero;\n");
    unchanged("__global__ void k() { __constant__ float w[2]; }\n");
    unchanged("struct S { static __constant__ int n; __device__ int f() const; };\n");
}

TEST_CASE("Device functions and kernel templates are private to their file", "[simt][cu2cpp][function]") {
    CHECK(translation("__device__ int f(int);") == "SIMT_LOCAL int f(int);");
    CHECK(translation("__device__ __forceinline__ float f(float x = 1) { return x; }") ==
          "SIMT_LOCAL __forceinline__ float f(float x = 1) { return x; }");
    CHECK(translation("template <class T, int N = (3 > 2)> __device__ T f(T (&a)[N]) { return a[0]; }") ==
          "template <class T, int N = (3 > 2)> SIMT_LOCAL T f(T (&a)[N]) { return a[0]; }");
    CHECK(translation("inline __device__ float4 operator+(float4 a, float4 b) { return a; }") ==
          "inline SIMT_LOCAL float4 operator+(float4 a, float4 b) { return a; }");
    CHECK(translation("template <int B> __global__ void __launch_bounds__(B) k(int n) {}") ==
          "template <int B> SIMT_LOCAL void __launch_bounds__(B) k(int n) {}");
    CHECK(translation("namespace n { constexpr __device__ auto f() -> int { return 1; } }") ==
          "namespace n { constexpr SIMT_LOCAL auto f() -> int { return 1; } }");
    for (const std::string text :
         {"__global__ void k(int n) {}", "__host__ __device__ int f() { return 1; }",
          "static __device__ int f() { return 1; }", "extern __device__ int f();",
          "extern \"C\" __device__ int f() { return 1; }",
          "template <> __device__ int f<int>(int) { return 1; }", "template __device__ int f<int>(int);",
          "template __global__ void k<float>(float*);",
          "struct S { __device__ S() : a{1}, b(2) {} __device__ int f() const { return a; } int a, b; };",
          "__device__ S::S() : a{1} {}", "__device__ int S::f() const { return a; }",
          "struct S { __device__ operator T*() { return p; } };",
          "struct S { friend __device__ int f(S); };\n__device__ int f(S) { return 1; }",
          "auto f = [=] __device__(int i) { return i; };", "using F = int (*)(int);\ntypedef int (*G)(int);",
          "class __align__(16) V { public: __device__ V() {} };"}) {
        unchanged(text);
    }
    SECTION("columns stay exact") {
        CHECK(raw_translation("__device__ int f();") == "SIMT_LOCAL int f();");
        CHECK(raw_translation("__constant__ int c;").substr(0, 19) == "SIMT_LOCAL   int c;");
    }
    SECTION("both branches of an #if may open the same function") {
        const std::string text =
            "#ifdef A\n__device__ int f(int a) {\n#else\n__device__ int f() {\n#endif\n  return "
            "1;\n}\n__constant__ int c;\n";
        const std::string out = translation(text);
        CHECK(out.find("SIMT_LOCAL int f(int a) { #else SIMT_LOCAL int f() { #endif return 1; }") !=
              std::string::npos);
        CHECK(out.find(symbol("c", "constant")) != std::string::npos);
    }
}

TEST_CASE("Pragmas for nvcc go, others stay", "[simt][cu2cpp][pragma]") {
    for (const std::string pragma :
         {"#pragma unroll", "#pragma unroll 4", "# pragma unroll (N + 1)", "  #pragma nounroll",
          "#pragma nv_diag_suppress 177", "#pragma unroll /* all of it */"}) {
        CAPTURE(pragma);
        const std::string out = raw_translation("a();\n" + pragma + "\nfor (;;) {}\n");
        CHECK(out.find('#') == std::string::npos);
        CHECK(out.find("unroll") == std::string::npos);
        CHECK(count_lines(out) == 3);
        CHECK(out.substr(out.size() - 12) == "for (;;) {}\n");
    }
    const std::string continued = "#pragma unroll \\\n  4\nf();\n";
    CHECK(squeezed(raw_translation(continued)) == "\\ f();");
    CHECK(count_lines(raw_translation(continued)) == 3);
    CHECK(translation("#define U _Pragma(\"unroll 4\") for (;;)\n") == "#define U for (;;)");
    unchanged("#pragma once\n#pragma omp parallel for\n#pragma GCC unroll 4\n_Pragma(\"once\")\n");
}

TEST_CASE("Attributes", "[simt][cu2cpp]") {
    CHECK(translation("static __noinline__ __device__ int f();") ==
          "static __attribute__((__noinline__)) __device__ int f();");
    unchanged("__attribute__((__noinline__)) int f();\n");
    CHECK(starts_with(refusal("__global__ void __cluster_dims__(2, 1, 1) k() {}"),
                      "1:17: `__cluster_dims__` cannot"));
}

TEST_CASE("A kernel that returns something is refused", "[simt][cu2cpp][refusal]") {
    CHECK(refusal("static __global__ int k(int* x) { return *x; }") ==
          "1:19: a kernel returns nothing: write `__global__ void`");
    CHECK(starts_with(refusal("template <int n> __global__ float k() { return n; }"),
                      "1:29: a kernel returns"));
    CHECK(refusal("__global__ void* k() {}") == "1:16: a kernel returns nothing: write `__global__ void`");
    for (const char* kernel :
         {"template <class T> __global__ std::enable_if_t<sizeof(T) == sizeof(float)> k(T* x) {}",
          "template <class T> __global__ typename If<T, float>::type __launch_bounds__(int(128)) k(T* x) {}",
          "__global__ void k(int x) {}", "void __global__ k(int x) {}",
          "typedef void nothing;\n__global__ nothing k() {}",
          "template <class T, int n> static __global__ void __launch_bounds__(128) k(T x) {}"}) {
        CAPTURE(kernel);
        CHECK(refusals(kernel).empty());
    }
}

TEST_CASE("Inline PTX is refused with what to write instead", "[simt][cu2cpp][refusal]") {
    const auto device = [](const std::string& code) {
        return refusal("__global__ void k() {\n  " + code + "\n}");
    };
    CHECK(starts_with(device("asm volatile(\"add.u32 %0, %1, %%laneid;\" : \"=r\"(lane) : \"r\"(x));"),
                      "2:3: inline PTX; a CPU has no such instructions; write `threadIdx.x % warpSize`"));
    CHECK(
        starts_with(device("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane) : \"r\"(x));"), "2:3: inline PTX"));
    CHECK(device("asm(\"cp.async.ca.shared.global [%0], [%1], 16;\" :: \"r\"(a));").find("plain loads") !=
          std::string::npos);
    CHECK(device("__asm__ __volatile__(\"foo %0;\" : : \"r\"(x));").find("inline PTX") != std::string::npos);
    CHECK(refusals("__global__ void k() { asm volatile(\"\" ::: \"memory\"); }").empty());
    unchanged("void host() { asm volatile(\"mov %0, %%eax\" : : \"r\"(x)); }\n");
    SECTION("in a macro: where it is used") {
        const std::string define =
            "#define COPY(d, s) asm volatile(\"cp.async.ca [%0], [%1];\" :: \"r\"(d), \"l\"(s))\n";
        CHECK(refusals(define).empty());
        CHECK(starts_with(refusal(define + "void f() { COPY(a, b); }\n"),
                          "2:12: macro `COPY` cannot be translated"));
        CHECK(translation(define).find("static_assert(false, \"inline PTX") != std::string::npos);
    }
    SECTION("under an #if: left to the compiler") {
        const std::string out =
            translation("__device__ int f() {\n#ifdef PTX\nasm(\"mov.u32 %0;\");\n#endif\n}\n");
        CHECK(out.find("static_assert(false, \"inline PTX") != std::string::npos);
        CHECK(out.find("mov.u32") == std::string::npos);
    }
}

TEST_CASE("Inline PTX that reads a register, or is a barrier, is translated", "[simt][cu2cpp]") {
    const auto device = [](const std::string& code) {
        return translation("__device__ int f() { " + code + " }");
    };
    const std::string head = "SIMT_LOCAL int f() { ";
    CHECK(device("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(a.b[1]));") ==
          head + "(a.b[1]) = ::simt::registers::laneid() ; }");
    CHECK(device("asm(\"mov.u32 %0, %lanemask_lt;\\n\\t\" : \"=r\"(m) : : \"memory\");") ==
          head + "(m) = ::simt::registers::lanemask_lt() ; }");
    CHECK(device("asm(\"mov.u64\" \" %0, %%globaltimer;\" : \"=l\"(t) :: \"memory\");") ==
          head + "(t) = ::simt::registers::globaltimer() ; }");
    CHECK(device("asm volatile(\"bar.sync 0;\" ::: \"memory\");") == head + "__syncthreads() ; }");
    CHECK(device("if (x) asm(\"trap;\");") == head + "if (x) __trap() ; }");
    CHECK(translation("#define LANE(l) asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(l))\n") ==
          "#define LANE(l) (l) = ::simt::registers::laneid()");
    unchanged("void host() { asm(\"trap;\"); }\n");
}

TEST_CASE("What assembly without instructions puts out is a store", "[simt][cu2cpp]") {
    const auto device = [](const std::string& code) {
        return translation("__device__ int f() { " + code + " }");
    };
    const std::string head = "SIMT_LOCAL int f() { ";
    CHECK(device("asm volatile(\"\" : \"=r\"(a[1]) : \"0\"(x));") ==
          head + "asm volatile(\"\" : \"=r\"(::simt::asm_output<false>(a[1]).value()) : \"0\"(x)); }");
    CHECK(device("asm(\"\" : [one] \"+r\"(a), \"=\" \"f\"(b.c) :: \"memory\");") ==
          head +
              "asm(\"\" : [one] \"+r\"(::simt::asm_output<true>(a).value()), \"=\" "
              "\"f\"(::simt::asm_output<false>(b.c).value()) :: \"memory\"); }");
    CHECK(translation("#define HIDE(v) asm(\"\" : \"+r\"(v))\n") ==
          "#define HIDE(v) asm(\"\" : \"+r\"(::simt::asm_output<true>(v).value()))");
    for (const std::string fine : {"asm(\"\");", "asm volatile(\"\" ::: \"memory\");",
                                   "asm(\"\" : : \"r\"(x));", "asm(\"\" :: \"r\"(x));"})
        CHECK(device(fine) == head + fine + " }");
    unchanged("void host() { asm(\"\" : \"+r\"(x)); }\n");
    SECTION("what a macro hides is refused") {
        for (const std::string hidden : {"asm(\"\" OUTPUT(x));", "asm(\"\" : CONSTRAINT(x));",
                                         "asm(\"\" : \"=r\"(x) MORE);", "CALL(asm, x);"}) {
            CAPTURE(hidden);
            CHECK(refusals("__global__ void k(int x) { " + hidden + " }").size() == 1);
        }
        for (const std::string macro : {"A asm", "A asm volatile", "A asm(\"\" : \"=r\"(x)"}) {
            CAPTURE(macro);
            CHECK(refusals("#define " + macro + "\n").empty());
            CHECK(refusals("#define " + macro + "\n__global__ void k(int x) { A; }").size() == 1);
        }
    }
}

TEST_CASE("An object that is made at a place is a store there", "[simt][cu2cpp]") {
    const auto device = [](const std::string& code) {
        return translation("__device__ void f() { " + code + " }");
    };
    const std::string head = "SIMT_LOCAL void f() { ";
    CHECK(device("new (p + 1) T(f());") == head + "::simt::filled(new (::simt::placed, p + 1) T(f())); }");
    CHECK(device("::new (p) N::T<1, 2>{f()};") ==
          head + "::simt::filled(::new (::simt::placed, p) N::T<1, 2>{f()}); }");
    CHECK(device("T* t = new T(f());") == head + "T* t = ::simt::filled(new (::simt::placed) T(f())); }");
    CHECK(device("auto* t = new (T)(f());") ==
          head + "auto* t = ::simt::filled(new (::simt::placed) (T)(f())); }");
    CHECK(device("new (p) T[2]{f(), f()};") == head + "new (::simt::placed, p) T[2]{f(), f()}; }");
    CHECK(device("new (p) T();") == head + "::simt::filled(new (::simt::placed, p) T()); }");
    CHECK(device("new (p) T;") == head + "::simt::made(new (p) T); }");
    CHECK(device("g(new N::T, ::new (p) T<1>);") ==
          head + "g(::simt::made(new N::T), ::simt::made(::new (p) T<1>)); }");
    for (const std::string fine : {"T* t = new T[n];", "float* v = new float[f(1)];", "new (T);"}) {
        CAPTURE(fine);
        CHECK(device(fine) == head + fine + " }");
    }
    CHECK(device("g(__builtin_bit_cast(T<1, 2>, p[h(1, 2)]));") ==
          head + "g(::simt::bit_cast <T<1, 2>>( p[h(1, 2)])); }");
    unchanged("void host() { new (p) T(f()); }\n");
    unchanged("struct S { __device__ void* operator new(size_t, void*); };\n");
    CHECK(refusals("#define NEW new\n__global__ void k(int* p) { NEW (p) int(f()); }").size() == 1);
}

TEST_CASE("A device function that was declared for the host belongs to both", "[simt][cu2cpp]") {
    unchanged(
        "int f(int);\n__device__ int f(int x) { return x; }\n__global__ void g(int* p) { *p = f(1); }\n"
        "static int h() { return f(1); }\n");
    CHECK(translation("int f(int a = 3, float*); __device__ int f(int, float*) { return 1; }") ==
          "int f(int a = 3, float*); __device__ int f(int, float*) { return 1; }");
    CHECK(translation("int f(int); __device__ int f(float) { return 1; }") ==
          "int f(int); SIMT_LOCAL int f(float) { return 1; }");
    CHECK(translation("static int f(int); __device__ int f(int) { return 1; }") ==
          "static int f(int); SIMT_LOCAL int f(int) { return 1; }");
}

TEST_CASE("Texture references and the vendor's libraries are refused", "[simt][cu2cpp][refusal]") {
    CHECK(starts_with(refusal("texture<float, 1, cudaReadModeElementType> t;"),
                      "1:1: texture references cannot"));
    CHECK(starts_with(refusal("static texture<float> t;"), "1:8: texture references cannot"));
    unchanged("template <class T> struct texture {};\ntexture<float> t;\n");

    cu2cpp::TranslateOptions passing;
    passing.lenient = true;
    const auto passed = [&](const std::string& text) {
        const cu2cpp::Translation result = cu2cpp::translate(text, "a.cu", passing);
        return result.diagnostics.empty() ? cu2cpp::apply(text, result.edits) : result.diagnostics[0].text();
    };
    CHECK(passed("texture<float, 2> t, u;") == "static ::simt::TextureReference<float, 2> t, u;");
    CHECK(passed("static texture<float> t;") == "static ::simt::TextureReference<float> t;");
    CHECK(passed("extern texture<float> t;") == "extern ::simt::TextureReference<float> t;");
    CHECK(starts_with(passed("surface<void, 2> s;"), "a.cu:1:1: error: surface references cannot"));
    const std::string own = "template <class T> struct texture {};\ntexture<float> t;\n";
    CHECK(passed(own) == own);
    CHECK(starts_with(refusal("#include <cublas.h>\n"), "1:10: header `cublas.h` does not exist on the CPU"));
    CHECK(starts_with(refusal("#include <thrust/sort.h>\n"), "1:10: header `thrust/sort.h`"));
    unchanged("#include <cuda_runtime.h>\n#include <vector>\n#ifdef A\n#include <cublas_v2.h>\n#endif\n");
}

TEST_CASE("Text that ends too early is refused", "[simt][cu2cpp][lexer][refusal]") {
    CHECK(starts_with(refusal("int a;\n /* never closed\n"), "2:2: unterminated comment"));
    CHECK(starts_with(refusal("a = \"never closed;\n"), "1:5: unterminated string"));
    CHECK(starts_with(refusal("a = 'x;\n"), "1:5: unterminated character"));
    CHECK(starts_with(refusal("a = R\"(never closed\"\n;\n"), "1:5: unterminated raw string"));
    CHECK(refusals("#if 0\nit's \"fine\n#endif\n#ifdef A\nit's fine\n#endif\n").empty());
    CHECK(refusals(std::string(5000, '{')).size() == 1);
    std::string ifs;
    for (int i = 0; i < 3000; ++i) ifs += "#ifdef A\n";
    CHECK(refusals(ifs).size() == 1);
}

TEST_CASE("Odd but valid text passes through", "[simt][cu2cpp][lexer]") {
    unchanged("");
    unchanged("int x;");  // no newline at the end
    unchanged("\n\n\r\n\t");
    unchanged("// \xFF\xFE not UTF-8\nconst char* s = \"\xC3\xA4\xFF\";\nint \xC3\xA4 = 1;\n");
    unchanged("}}}) ] ;;; {{{ ( [\n#else\n#endif\n#\n# 12 \"a.cu\"\n");
    unchanged("int a" + std::string(1 << 20, ' ') + ";\n");
    unchanged("auto s = u8R\"(a)\" \"b\"_x; auto c = L'\\''; auto r = LR\"--(\n)-\" )--\";\n");
}

TEST_CASE("The lexer splits text as C++ does", "[simt][cu2cpp][lexer]") {
    const auto words = [](std::string_view text) {
        const cu2cpp::Lexed lexed = cu2cpp::lex(text);
        std::vector<std::string> out;
        for (const auto& token : lexed.tokens) out.emplace_back(token.text);
        return out;
    };
    using Words = std::vector<std::string>;
    CHECK(words("a<<<b>>>c") == Words{"a", "<<<", "b", ">", ">", ">", "c"});
    CHECK(words("operator<<<T>") == Words{"operator", "<<", "<", "T", ">"});
    CHECK(words("1'000 0x1p-3 1e+5f .5 1.f+2") == Words{"1'000", "0x1p-3", "1e+5f", ".5", "1.f", "+", "2"});
    CHECK(words("__sha\\\nred__ a\\  \r\nb") == Words{"__shared__", "ab"});
    CHECK(words("a/**/b//\\\nc\nd") == Words{"a", "b", "d"});
    CHECK(words("x->y>=z>>=w") == Words{"x", "->", "y", ">=", "z", ">>=", "w"});
}
