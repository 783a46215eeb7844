// What goes from the compiler to the assembler.

#include <string>
#include <vector>

#include "judge/build/assembly.hpp"
#include "rungs/catch.hpp"

using rungs::judge::objection_to_assembly;

TEST_CASE("no text of a rung's goes to the assembler", "[judge][gate]") {
    const auto why = [](const std::string& text) {
        return objection_to_assembly(text, {"03_shared_tree.cu", "03_shared_tree.cu.cpp"});
    };
    const std::string usual =
        "\t.file\t\"03_shared_tree.cu.cpp\"\n\t.text\n\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n.LC0:\n"
        "\t.string\t\".incbin \\\"x\\\" # \"\n\t.globl\t_Z1fv\n_Z1fv:\n.LFB7:\n\t.cfi_startproc\n\t.loc 1 2 "
        "3\n"
        "\tmovl\t$1, %eax\n\tret\n\t.size\t_Z1fv, .-_Z1fv\n\t.section\t.note.GNU-stack,\"\",@progbits\n";
    CHECK(why(usual) == "");
    CHECK(why("") == "");
    for (const std::string line :
         {"\t.ident\t\"x\"", ".macro call t:vararg", "\t.incbin \"/etc/passwd\"", "\t.include \"x\"",
          ".altmacro", "\t.section .gnu.lto_x,\"e\"", "\t.section\t.mine", "\t.pushsection .text",
          ".reloc .-4, R_X86_64_PLT32, f", "\t.symver a,b@C", "\t.weakref a, b", ".equ __tsan_read4, f",
          ".rept 9"})
        CHECK(why(usual + line + "\n").find("would go to the assembler") != std::string::npos);

    // Assembly of a header's, and a statement of the rung's that says nothing.
    const auto statement = [](const std::string& file, const std::string& text) {
        return "#APP\n# 12 \"" + file + "\" 1\n\t" + text + "\n# 0 \"\" 2\n#NO_APP\n";
    };
    CHECK(why(usual + statement("/usr/include/simt/switch.h", "leaq 1f(%rip), %rax\n\t.p2align 4\n1:")) ==
          "");
    CHECK(why(usual + statement("03_shared_tree.cu", "") + "\tret\n") == "");
    for (const std::string file :
         {"03_shared_tree.cu", "./03_shared_tree.cu.cpp", "/work/x/03_shared_tree.cu"})
        CHECK(why(usual + statement(file, "nop")).find("'nop' would go to the assembler") !=
              std::string::npos);
    CHECK(why(usual + "#APP\n\tnop\n#NO_APP\n") != "");
    // <iostream>'s, and what g++ 13 writes before it says that it has ended.
    const std::string iostreams = "#APP\n\t.globl _ZSt21ios_base_library_initv\n";
    CHECK(why(usual + iostreams + "#NO_APP\n") == "");
    CHECK(why(usual + iostreams +
              "\t.section\t.rodata.str1.1,\"aMS\",@progbits,1\n\t.align 8\n.LC0:\n\t.string\t\"a; "
              "\\\"b\"\n#NO_APP\n"
              "\tret\n") == "");
    for (const std::string line :
         {"\t.globl _ZSt21ios_base_library_initv, f", "\t.globl f", "\tnop", "f:", ".LC0: nop",
          ".LC:", ".LCf:", "\t.string \"a\"; nop", "\t.string \"a\", \"b", "\t.string f", "\t.quad f",
          "\t.align f", "\t.section\t.text", "\t.section\t.rodata.a; nop", "\t.byte 195"})
        CHECK(why(usual + iostreams + line + "\n#NO_APP\n") != "");
    CHECK(why(usual + statement("03_shared_tree.cu", ".globl _ZSt21ios_base_library_initv")) != "");
    CHECK(why(usual + statement("/usr/include/simt/switch.h", "nop") + "#APP\n\tnop\n") != "");
    CHECK(why(usual +
              "#APP\n# 1 \"/usr/include/a.h\" 1\n\tnop\n# 0 \"\" 2\n# 9 \"03_shared_tree.cu\" 1\n\tnop\n") !=
          "");
}
