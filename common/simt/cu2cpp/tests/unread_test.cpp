// Which calls of the runtime drop their error: check mode hears of these.
#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

namespace {

std::string marked(const std::string& body) {
    cu2cpp::TranslateOptions options;
    options.dropped_errors = true;
    return raw_translation(body, options);
}

/// How many calls in a function of the host with this body are marked.
std::ptrdiff_t marks(const std::string& body) {
    const std::string text = marked("void f(void* p, int n) { " + body + " }");
    std::ptrdiff_t count = 0;
    for (std::size_t at = 0; (at = text.find("::simt::dropped(", at)) != text.npos; ++at) ++count;
    return count;
}

}  // namespace

TEST_CASE("A call whose error is dropped is marked behind itself", "[simt][cu2cpp][unread]") {
    CHECK(marked("void f(void* p) { cudaFree(p); }") ==
          "void f(void* p) { cudaFree(p) ? ::simt::dropped(\"cudaFree\") : (void)0; }");
    CHECK(marked("void f(void* p) { (void)::cudaFree(p); }") ==
          "void f(void* p) {      (::cudaFree(p) ? ::simt::dropped(\"cudaFree\") : (void)0); }");
    CHECK(marked("void f(void* p) { cudaError_t e = cudaFree(p); }") ==
          "void f(void* p) { cudaError_t e = cudaFree(p); if (e) ::simt::dropped(\"cudaFree\"); }");
    CHECK(marked("void f(void* p) { cudaError_t e; e = cudaFree(p); }") ==
          "void f(void* p) { cudaError_t e; e = cudaFree(p), e ? ::simt::dropped(\"cudaFree\") : (void)0; }");
    CHECK(translation("void f(void* p) { cudaFree(p); }") == "void f(void* p) { cudaFree(p); }");
}

TEST_CASE("Dropped and read errors are told apart", "[simt][cu2cpp][unread]") {
    for (const std::string body :
         {"if (n) cudaFree(p);", "if (n) n = 1; else cudaFree(p);", "for (;;) cudaFree(p);",
          "switch (n) { case 1: cudaFree(p); break; default: n = 2; }", "again: cudaFree(p);",
          "do cudaFree(p); while (n);", "run([=] { cudaFree(p); });", "{ cudaFree(p); }",
          "(void)cudaFree(p);", "cudaMemcpy(p, p, n * (n + 1), cudaMemcpyDefault);",
          "if constexpr (true) cudaFree(p);", "cudaError_t e = cudaFree(p); (void)e;",
          "const cudaError_t e = cudaFree(p);",
          "cudaError_t e; e = cudaFree(p); e = cudaGetLastError(); if (e) n = 1;",
          "cudaError_t e = cudaFree(p); n = 1; if (n) { n = 2; } e = cudaGetLastError(); if (e) n = 1;"}) {
        CAPTURE(body);
        CHECK(marks(body) == 1);
    }
    for (const std::string body : {"check(cudaFree(p));",
                                   "if (cudaFree(p)) n = 1;",
                                   "n = cudaFree(p);",
                                   "return cudaFree(p);",
                                   "n ? cudaFree(p) : cudaFree(p);",
                                   "e(n ? x : cudaFree(p));",
                                   "while (cudaStreamQuery(p) != n);",
                                   "for (; cudaStreamQuery(p);) n = 1;",
                                   "x.cudaFree(p);",
                                   "x->cudaFree(p);",
                                   "mine::cudaFree(p);",
                                   "cudaGetLastError();",
                                   "cudaPeekAtLastError();",
                                   "cudaError_t cudaFree(void*);",
                                   "CALL(n) cudaFree(p);",
                                   "cudaFreeMine(p);",
                                   "cudaCheck();",
                                   "n = ({ n = 1; cudaFree(p); });",
                                   "cudaError_t e = cudaFree(p); if (e) n = 1;",
                                   "cudaError_t e; e = cudaFree(p); use(&e); e = cudaSuccess;",
                                   "cudaError_t e; e = cudaFree(p); if (n) use(e); e = cudaSuccess; use(e);",
                                   "cudaError_t e; e = cudaFree(p); e = other(e); use(e);",
                                   "static cudaError_t e; e = cudaFree(p);",
                                   "for (cudaError_t e = cudaFree(p); n; --n) n = 1;",
                                   "e = cudaFree(p);",
                                   "x.e = cudaFree(p);",
                                   "cudaError_t e; while (n) e = cudaFree(p); use(e);"}) {
        CAPTURE(body);
        CHECK(marks(body) == 0);
    }
    CHECK(marked("__global__ void k(void* p) { cudaFree(p); }") ==
          "__global__ void k(void* p) { cudaFree(p); }");
    CHECK(marked("void cudaFree(int); void f() { cudaFree(3); }").find("dropped") == std::string::npos);
    CHECK(marked("#define cudaFree(p) mine(p)\nvoid f() { cudaFree(3); }").find("dropped") ==
          std::string::npos);
    CHECK(marked("#define FREE(p) cudaFree(p)\n").find("dropped") == std::string::npos);
    CHECK(marked("#define FREE(p) do { cudaFree(p); } while (0)\n").find("dropped") != std::string::npos);
}
