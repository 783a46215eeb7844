/// @file
/// Launches: what may be in front of `<<<`, inside it and after it.

#include "cu2cpp/tests/tools.h"
#include "testing/catch.h"

using namespace cu2cpp_tools;

TEST_CASE("A launch becomes a call of the runtime", "[simt][cu2cpp][launch]") {
    CHECK(translation("k<<<1, 32>>>(a, 3);") == launch("k", "1, 32") + "(a, 3);");
    CHECK(translation("k<<<g, b, bytes, stream>>>();") == launch("k", "g, b, bytes, stream") + "();");
    CHECK(translation("k<<<dim3(2, 2), {32, 4}>>>(a);") == launch("k", "dim3(2, 2), {32, 4}") + "(a);");
    CHECK(translation("k <<< (n + 255) / 256, 256 >>> (a);") ==
          "::simt::kernel(\"k\",[=](auto&&... simt_args){ k(simt_args...); }) [::simt::cfg( (n + 255) / "
          "256, 256 )] (a);");
}

TEST_CASE("Everything that can name a kernel is found", "[simt][cu2cpp][launch]") {
    for (const std::string kernel :
         {"ns::k", "::ns::k", "k<T>", "k<T,16>", "k<T,(B>16?16:8)>", "k<A<B<int>>>",
          "::ns::k<A<B<C>>,3>::run", "k<sizeof(T)>", "k<(1<<4)>", "k<1<<4>", "k<&f>", "k<T[3]>"}) {
        CAPTURE(kernel);
        CHECK(translation(kernel + "<<<1, 32>>>(a);") == launch(kernel, "1, 32") + "(a);");
        CHECK(translation("return " + kernel + "<<<1, 32>>>(a);") ==
              "return " + launch(kernel, "1, 32") + "(a);");
        CHECK(refusals(kernel + "<<<1, 32>>>(a);").empty());
    }
    CHECK(translation("A<T>::template k<U><<<1, 2>>>();") ==
          launch("A<T>::template k<U>", "1, 2", "A<T>::template k<U>") + "();");
    SECTION("an expression is evaluated once, on the host") {
        for (const std::string kernel :
             {"(c ? f : g)", "table[1]", "object.member", "object->member", "(*pointer)", "choose(n)",
              "choose<int>(n)", "this->k", "a.b[i].c", "(f)"}) {
            CAPTURE(kernel);
            std::string name;
            for (const char c : kernel) {
                if (c != ' ') name += c;
            }
            CHECK(translation("if (x) " + kernel + "<<<1, 32>>>(a); else b();") ==
                  "if (x) ::simt::kernel(\"" + name + "\",[simt_k = " + kernel +
                      "](auto&&... simt_args){ simt_k(simt_args...); })[::simt::cfg(1, 32)](a); else b();");
        }
    }
    SECTION("what is in front of the name stays in front") {
        CHECK(translation("if (c) k<<<1, 2>>>(a); else k<<<3, 4>>>(b);") ==
              "if (c) " + launch("k", "1, 2") + "(a); else " + launch("k", "3, 4") + "(b);");
        CHECK(translation("for (;;) k<<<1, 2>>>();") == "for (;;) " + launch("k", "1, 2") + "();");
        CHECK(translation("else ::k<<<1, 2>>>();") == "else " + launch("::k", "1, 2") + "();");
        CHECK(translation("label: k<<<1, 2>>>();") == "label: " + launch("k", "1, 2") + "();");
        CHECK(translation("case 0:k<<<1, 2>>>(a);") == "case 0: " + launch("k", "1, 2") + "(a);");
        CHECK(translation("c ? j<<<1, 2>>>(a):k<<<3, 4>>>(a);") ==
              "c ? " + launch("j", "1, 2") + "(a): " + launch("k", "3, 4") + "(a);");
        CHECK(translation("CHECK(k<<<1, 2>>>(a));") == "CHECK(" + launch("k", "1, 2") + "(a));");
        CHECK(translation("a, k<<<1, 2>>>(a);") == "a, " + launch("k", "1, 2") + "(a);");
    }
}

TEST_CASE("What is no kernel is not launched", "[simt][cu2cpp][launch]") {
    const std::string rest = "\nvoid f() { k<<<1, 2>>>(3); }";
    CHECK(starts_with(refusal("void k(int) {}" + rest), "2:12: launch of `k`, which is not a kernel"));
    CHECK(starts_with(refusal("static void k(int);" + rest), "2:12: launch of `k`, which is not a kernel"));
    CHECK(
        starts_with(refusal("template <class T>\nvoid k(T) {}" + rest), "3:12: launch of `k`, which is no"));
    CHECK(starts_with(refusal("template <class T>\nstatic void k(T) {}\nvoid f() { k<int><<<1, 2>>>(3); }"),
                      "3:12: launch of `k`, which is not a kernel"));
    CHECK(refusals("template <class T>\n__global__ void k(T) {}" + rest).empty());
    CHECK(refusals("template <class T>\nKERNEL void k(T) {}" + rest).empty());
    // A macro may say more than is seen, and an overload may be the kernel.
    CHECK(refusals("KERNEL void k(int) {}" + rest).empty());
    CHECK(refusals("void k(float) {}\n__global__ void k(int) {}" + rest).empty());
}

TEST_CASE("A brace that is missing is reported where it opens", "[simt][cu2cpp][launch]") {
    const std::string rest = "\nvoid f() { k<<<1, 2>>>(3); }";
    CHECK(starts_with(refusal("__global__ void k(int) {" + rest), "1:24: `{` without `}`"));
    CHECK(starts_with(refusal("__global__ void k(int n) {\n  for (;;) {\n n = 0;\n}" + rest),
                      "1:26: `{` without `}`"));
}

TEST_CASE("Angle brackets that are no launch stay as they are", "[simt][cu2cpp][launch]") {
    for (const std::string text :
         {"std::vector<std::vector<std::vector<int>>> v;", "x = a << 2 >> 1;", "b = a < b > c;",
          "std::ostream& operator<<<T>(std::ostream&, T);", "x >>= 3; y <<= 2;", "// k<<<1, 2>>>(a);\n",
          "/* k<<<1,\n2>>> */", "s = \"k<<<1, 2>>>(a)\";", "s = R\"x(k<<<1, 2>>>(\"a\"))x\";",
          "c = '<'; d = '\\''; e = \"\\\"<<<\";", "n = 1'000'000; m = 0x1'F;",
          "#if 0\nk<<<1, don't\n#endif\n", "#error k<<<1 isn't CUDA\n", "a <=> b; p->*q;"}) {
        CAPTURE(text);
        CHECK(raw_translation(text) == text);
        CHECK(refusals(text).empty());
    }
}

TEST_CASE("`>>>` ends a launch only where its parenthesis follows", "[simt][cu2cpp][launch]") {
    CHECK(translation("k<<<1, N<4>>>>(a);") == launch("k", "1, N<4>") + "(a);");
    CHECK(translation("k<<<1, 64 >> 1>>>(a);") == launch("k", "1, 64 >> 1") + "(a);");
    CHECK(translation("k<<<A<B<C>>>::grid, 32>>>(a);") == launch("k", "A<B<C>>>::grid, 32") + "(a);");
    CHECK(translation("k<<<1 << 3, f<A<1>>()>>>(a);") == launch("k", "1 << 3, f<A<1>>()") + "(a);");
}

TEST_CASE("A launch may span lines, and lines stay", "[simt][cu2cpp][launch]") {
    const std::string text =
        "k<T,   // the type\n  16>  /* a\n comment */\n<<<grid,\n block>>>\n(a,\n b);\nnext();\n";
    const std::string out = raw_translation(text);
    CHECK(count_lines(out) == count_lines(text));
    CHECK(out.find("\n block)]\n(a,\n b);\nnext();\n") != std::string::npos);
    CHECK(starts_with(
        out,
        "::simt::kernel(\"k<T,16>\",[=](auto&&... simt_args){ k<T,   // the type\n  16>(simt_args...); })"));
    const std::string spliced = "k\\\n<<<1, 2>\\\n>>(a);\n";
    CHECK(count_lines(raw_translation(spliced)) == count_lines(spliced));
    CHECK(raw_translation("k<<<1, 2>>>(a);\r\nf();\r\n") == launch("k", "1, 2") + "(a);\r\nf();\r\n");
}

TEST_CASE("Launches nest in lambdas among the arguments", "[simt][cu2cpp][launch]") {
    CHECK(translation("run([&] { k<<<1, 2>>>(a); j<<<3, 4>>>(f([] { i<<<5, 6>>>(); })); });") ==
          "run([&] { " + launch("k", "1, 2") + "(a); " + launch("j", "3, 4") + "(f([] { " +
              launch("i", "5, 6") + "(); })); });");
}

TEST_CASE("Macros may contain whole launches", "[simt][cu2cpp][launch][macro]") {
    CHECK(translation("#define RUN(n) k<int><<<1, n>>>(a)\n") ==
          "#define RUN(n) " + launch("k<int>", "1, n") + "(a)");
    SECTION("a parameter gives the kernel its name, and never replaces the runtime's") {
        CHECK(translation("#define RUN(f, n) f<<<1, n>>>(a)\n") ==
              "#define RUN(f, n) ::simt::kernel(#f,[=](auto&&... simt_args){ f(simt_args...); "
              "})[::simt::cfg(1, n)](a)");
        CHECK(translation("#define RUN(kernel, cfg, ...) kernel<<<cfg, 1>>>(__VA_ARGS__)\n") ==
              "#define RUN(kernel, cfg, ...) SIMT_kernel(#kernel,[=](auto&&... simt_args){ "
              "kernel(simt_args...); })"
              "[SIMT_cfg(cfg, 1)](__VA_ARGS__)");
        CHECK(translation("#define RUN(t) sum_##t<t><<<1, 1>>>(a)\n") ==
              "#define RUN(t) ::simt::kernel(\"sum_\" #t \"<\" #t \">\",[=](auto&&... simt_args){ "
              "sum_##t<t>(simt_args...); })"
              "[::simt::cfg(1, 1)](a)");
    }
    SECTION("the arguments may follow the macro's use") {
        CHECK(translation("#define RUN(f) f<<<1, 32>>>\nRUN(k)(a);") ==
              "#define RUN(f) ::simt::kernel(#f,[=](auto&&... simt_args){ f(simt_args...); })[::simt::cfg(1, "
              "32)] RUN(k)(a);");
    }
    SECTION("continued lines stay continued") {
        const std::string text = "#define RUN(n)  \\\n  k<<<1, \\\n  n>>>(a)\nint x;\n";
        const std::string out = raw_translation(text);
        CHECK(count_lines(out) == count_lines(text));
        CHECK(out.find("cfg(1, \\\n  n)](a)\nint x;\n") != std::string::npos);
    }
}

TEST_CASE("A name that can only mean one kernel passes its type on", "[simt][cu2cpp][launch]") {
    const auto typed = [](const std::string& arguments) {
        return "::simt::kernel(\"k\",[=](auto&&... simt_args){ k(simt_args...); },k)[::simt::cfg(1, 2)].run" +
               arguments;
    };
    const std::string kernel = "__global__ void k(int* p, float f) {} ";
    const auto body = [](const std::string& text) { return text.substr(text.find("void f() {")); };
    CHECK(body(translation(kernel + "void f() { k<<<1, 2>>>(0, {}); }")) ==
          "void f() { " + typed("(0, {}); }"));
    CHECK(body(translation("__global__ void k(int*, float); " + kernel +
                           "void f() { k<<<1, 2>>>(p, 1); }")) == "void f() { " + typed("(p, 1); }"));
    const std::string untyped = "void f() { " + launch("k", "1, 2") + "(p, 1); }";
    for (const std::string other :
         {"__global__ void k(int* p, double f); ", "template <class T> __global__ void k(T); ",
          "void k(float); ", "__device__ int k(); "}) {
        CAPTURE(other);
        CHECK(body(translation(kernel + other + "void f() { k<<<1, 2>>>(p, 1); }")) == untyped);
    }
    CHECK(body(translation(kernel + "void f() { k<<<1, 2>>>(p); }")) ==
          "void f() { " + launch("k", "1, 2") + "(p); }");
    CHECK(body(translation(kernel + "template <class... A> void f() { k<<<1, 2>>>(p, a...); }")) ==
          "void f() { " + launch("k", "1, 2") + "(p, a...); }");
}

TEST_CASE("Launches that a formatter tore apart", "[simt][cu2cpp][launch]") {
    CHECK(translation("k << <1, 2>> >(a);") ==
          "::simt::kernel(\"k\",[=](auto&&... simt_args){ k(simt_args...); }) [::simt::cfg( 1, 2)](a);");
    CHECK(translation("std::cout << x >> 1;") == "std::cout << x >> 1;");
    CHECK(translation("a.operator<< <T>(b);") == "a.operator<< <T>(b);");
}

TEST_CASE("What no CUDA compiler takes is refused, though C++ would run it", "[simt][cu2cpp][refusal]") {
    const std::string text = "__global__ void k(int n) {}\nint host(int a) { return a; }\n";
    CHECK(starts_with(refusal(text + "void f() { k(1); }"), "3:12: kernel `k` called like a function"));
    CHECK(starts_with(refusal(text + "__global__ void g(int* p) { *p = host(1); }"),
                      "3:34: host function `host` called from device code"));
    for (const std::string fine :
         {"void f() { k<<<1, 2>>>(host(1)); }", "void f() { run(k); use(&k); o.k(1); ns::k(1); }",
          "void f() { void k(int); }", "struct S k(int a) { return {}; } void f() { k(1); }",
          "__host__ __device__ int g() { return host(1); }",
          "HD int both(int a) { return a; } __global__ void g() { both(1); }",
          "__device__ int late(int); int late(int a) { return a; } __global__ void g() { late(1); }"}) {
        CAPTURE(fine);
        CHECK(refusals(text + fine).empty());
    }
}

TEST_CASE("A literal 0 is written where the kernel is called, so that it may be a pointer",
          "[simt][cu2cpp][launch]") {
    CHECK(translation("k<float><<<1, 2>>>(0, n, NULL, 0);") ==
          "::simt::kernel(\"k<float>\",[=](auto&&, auto&& simt_1, auto&& simt_2, auto&&){ k<float>(0, "
          "simt_1, simt_2, "
          "0); })[::simt::cfg(1, 2)](0, n, nullptr, 0);");
    CHECK(translation("k<<<1, 2>>>(0u, 00, -0, (0), 0.f);") ==
          launch("k", "1, 2") + "(0u, 00, -0, (0), 0.f);");
    CHECK(translation("k<<<1, 2>>>(0, arguments...);") == launch("k", "1, 2") + "(0, arguments...);");
    CHECK(translation("#define RUN(...) k<<<1, 2>>>(0, __VA_ARGS__)\n") ==
          "#define RUN(...) " + launch("k", "1, 2") + "(0, __VA_ARGS__)");
}

TEST_CASE("NULL stays a null pointer when it is copied", "[simt][cu2cpp][launch]") {
    CHECK(translation("k<<<1, 2>>>(NULL, f(NULL), 1);") == launch("k", "1, 2") + "(nullptr, f(NULL), 1);");
}

TEST_CASE("Launches that cannot be translated are refused at their places",
          "[simt][cu2cpp][launch][refusal]") {
    CHECK(starts_with(refusal("\n  k<<<1, 2;\n"), "2:4: `<<<` without `>>>`"));
    CHECK(starts_with(refusal("k<<<1, 2>>>;"), "1:2: launch without an argument list"));
    CHECK(starts_with(refusal("k<<<1, 2>>> x;"), "1:2: launch without an argument list"));
    CHECK(starts_with(refusal("k<<<1, 2>>>(a;"), "1:12: launch whose argument list is not closed"));
    CHECK(starts_with(refusal("k<<<1 + 1>>>(a);"), "1:2: launch configuration without a block size"));
    CHECK(starts_with(refusal("k<<<>>>(a);"), "1:2: launch configuration without a block size"));
    CHECK(starts_with(refusal("k<<<1, , 3>>>(a);"), "1:2: empty place in a launch configuration"));
    CHECK(starts_with(refusal("; <<<1, 2>>>(a);"), "1:3: `<<<` without a kernel's name"));
    CHECK(starts_with(refusal("3 <<<1, 2>>>(a);"), "1:3: `<<<` without a kernel's name"));
    CHECK(starts_with(refusal("k<<<1, 2>>>(a, {1, 2});"), "1:16: kernel argument in braces"));
    SECTION("all of them in one run, in order") {
        const auto all = refusals("f<<<1>>>(a);\nk<<<1, 2;\n  k<<<1, 2>>>;\n");
        REQUIRE(all.size() == 3);
        CHECK(starts_with(all[0], "1:2: launch configuration without"));
        CHECK(starts_with(all[1], "2:2: `<<<` without `>>>`"));
        CHECK(starts_with(all[2], "3:4: launch without"));
    }
    SECTION("a lone name may be a macro that makes two values") {
        CHECK(translation("k<<<SHAPE>>>(a);") == launch("k", "SHAPE") + "(a);");
    }
    SECTION("launches inside device code") {
        CHECK(starts_with(refusal("__global__ void k() {\n  if (x) { j<<<1, 2>>>(); }\n}"),
                          "2:12: launch inside device code"));
        CHECK(starts_with(refusal("struct S { __device__ void f() { k<<<1, 1>>>(); } };"),
                          "1:34: launch inside device"));
        CHECK(starts_with(refusal("void f() { run([=] __device__(int i) { k<<<1, 1>>>(i); }); }"),
                          "1:40: launch inside"));
        CHECK(refusals("__device__ int f(int);\nvoid g() { k<<<1, 1>>>(); }").empty());
        cu2cpp::TranslateOptions options;
        options.relocatable = true;
        CHECK(translation("__global__ void k() { j<<<1, 2>>>(); }", options) ==
              "__global__ void k() { " + launch("j", "1, 2") + "(); }");
        CHECK(refusals("__host__ __device__ void f() { k<<<1, 1>>>(); }").empty());
    }
    SECTION("a macro that hides half a launch is refused where it is used") {
        CHECK(refusals("#define SHAPE <<<1, 32>>>\n").empty());
        CHECK(starts_with(refusal("#define SHAPE <<<1, 32>>>\nvoid f() { k SHAPE (a); }\n"),
                          "2:14: macro `SHAPE` cannot be translated; its definition at t.cu:1 hides `<<<` "
                          "without a kernel's name"));
        CHECK(refusals("#define SHAPE <<<1, 32>>>\n#undef SHAPE\n#define SHAPE 1, 2\nk<<<SHAPE>>>(a);")
                  .empty());
        CHECK(refusals("#define OPEN <<<\n#define RUN k OPEN 1, 2 >>>(a)\nRUN;\n").size() == 1);
    }
    SECTION("what an #if may leave out is left to the compiler") {
        CHECK(refusals("#ifdef NEVER\nk<<<1, 2;\n#endif\n").empty());
        CHECK(refusals("#ifndef GUARD\n#define GUARD\nk<<<1, 2;\n#endif\n").size() == 1);
        CHECK(refusals("#if 1\nk<<<1, 2;\n#else\nj<<<1, 2;\n#endif\n").size() == 1);
    }
    SECTION("not more than a hundred") {
        std::string text;
        for (int i = 0; i < 500; ++i) text += "k<<<1, 2;\n";
        CHECK(refusals(text).size() == 100);
    }
}

TEST_CASE("Kernels handed to the API as void pointers keep their type", "[simt][cu2cpp][launch]") {
    const auto check = [](const std::string& from, const std::string& to) {
        CAPTURE(from);
        CHECK(translation(from) == squeezed(to));
    };
    for (const std::string cast : {"(void*)", "(const void *)", "(void const*)", "(const void*)(void*)"}) {
        check("cudaLaunchKernel(" + cast + "k<T, 4>, g, b, args, 0, s);",
              "cudaLaunchKernel( k<T, 4>, g, b, args, 0, s);");
        check("cudaFuncSetAttribute(" + cast + "&k, a, 3);", "cudaFuncSetAttribute( &k, a, 3);");
        check("cudaFuncGetAttributes(&attr, " + cast + "k);", "cudaFuncGetAttributes(&attr, k);");
        check("cudaOccupancyMaxPotentialBlockSize(&g, &b, " + cast + "k, 0, 0);",
              "cudaOccupancyMaxPotentialBlockSize(&g, &b, k, 0, 0);");
    }
    check("cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&k<T>), g);",
          "cudaLaunchCooperativeKernel( (&k<T>), g);");
    check("cudaLaunchKernel(static_cast<const void*>(k), g);", "cudaLaunchKernel( (k), g);");
    check("cudaLaunchKernel(k, g, b, (void**)args);", "cudaLaunchKernel(k, g, b, (void**)args);");
    check("cudaMemcpy((void*)a, b, n);", "cudaMemcpy((void*)a, b, n);");
    check("cudaLaunchKernel((void*", "cudaLaunchKernel((void*");
}
