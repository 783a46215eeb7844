// A decoder for as much of x86-64 as compilers make of device code without vectorisation: lengths of all
// instructions, and which of them compute. Sources: Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 2, appendix A (opcode map) and section 2.1 (instruction format).
#include "counters/instructions.h"

#include <cstring>

extern "C" void __sanitizer_cov_trace_pc();

namespace simt::check {

Arithmetic& Arithmetic::operator+=(const Arithmetic& o) {
    floats += o.floats;
    doubles += o.doubles;
    fusable += o.fusable;
    special += o.special;
    divisions += o.divisions;
    wide_divisions += o.wide_divisions;
    integers += o.integers;
    branches += o.branches;
    return *this;
}

namespace {

/// One instruction's parts.
struct Instruction {
    unsigned char map = 0;  ///< 0: one byte; 1: 0F; 2: 0F 38; 3: 0F 3A
    unsigned char opcode = 0;
    bool operand_size = false;  ///< prefix 66
    unsigned char repeat = 0;   ///< prefix F2 or F3
    bool wide = false;          ///< REX.W
    bool has_modrm = false;
    unsigned char mod = 0, reg = 0, rm = 0;
    std::size_t immediate = 0;  ///< bytes
    std::size_t length = 0;     ///< 0: not known
    std::int32_t target = 0;    ///< of a relative call or jump, from its end
};

bool one_byte_has_modrm(unsigned char op) {
    if (op < 0x40) return (op & 7) < 4;
    if (op == 0x63 || op == 0x69 || op == 0x6b) return true;
    if (op >= 0x80 && op <= 0x8f) return true;
    if (op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7) return true;
    if (op >= 0xd0 && op <= 0xdf) return op < 0xd4 || op >= 0xd8;
    return op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

std::size_t one_byte_immediate(const Instruction& i) {
    const unsigned char op = i.opcode;
    const std::size_t full = i.operand_size ? 2 : 4;
    if (op < 0x40) return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
    if (op == 0x68 || op == 0x69 || op == 0x81 || op == 0xa9 || op == 0xc7) return full;
    if (op == 0x6a || op == 0x6b || op == 0x80 || op == 0x83 || op == 0xa8 || op == 0xc0 || op == 0xc1 ||
        op == 0xc6 || op == 0xeb)
        return 1;
    if (op >= 0x70 && op <= 0x7f) return 1;
    if (op >= 0xb0 && op <= 0xb7) return 1;
    if (op >= 0xb8 && op <= 0xbf) return i.wide ? 8 : full;
    if (op == 0xc2) return 2;
    if (op == 0xe8 || op == 0xe9) return 4;
    if (op == 0xf6) return i.reg < 2 ? 1 : 0;
    if (op == 0xf7) return i.reg < 2 ? full : 0;
    return 0;
}

bool two_byte_has_modrm(unsigned char op) {
    return !(op == 0x05 || op == 0x0b || op == 0x31 || op == 0x77 || (op >= 0x80 && op <= 0x8f) ||
             op == 0xa2 || (op >= 0xc8 && op <= 0xcf));
}

std::size_t two_byte_immediate(unsigned char op) {
    if (op >= 0x80 && op <= 0x8f) return 4;
    const bool one = (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
                     (op >= 0xc4 && op <= 0xc6);
    return one ? 1 : 0;
}

Instruction decode(const unsigned char* code, std::size_t bytes) {
    Instruction i;
    std::size_t at = 0;
    const auto next = [&]() -> unsigned char {
        return at < bytes ? code[at++] : static_cast<unsigned char>(++at, 0);
    };
    unsigned char byte = next();
    for (;; byte = next()) {
        if (byte == 0x66)
            i.operand_size = true;
        else if (byte == 0xf2 || byte == 0xf3)
            i.repeat = byte;
        else if (byte != 0xf0 && byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 &&
                 byte != 0x64 && byte != 0x65 && byte != 0x67)
            break;
        if (at > 14) return i;
    }
    if ((byte & 0xf0) == 0x40) {
        i.wide = byte & 8;
        byte = next();
    }
    if (byte == 0x0f) {
        i.map = 1;
        byte = next();
        if (byte == 0x38 || byte == 0x3a) {
            i.map = byte == 0x38 ? 2 : 3;
            byte = next();
        }
    } else if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
        return i;  // vector extensions, which nobody asked the compiler for
    }
    i.opcode = byte;
    i.has_modrm = i.map == 0 ? one_byte_has_modrm(byte) : i.map != 1 || two_byte_has_modrm(byte);
    if (i.has_modrm) {
        const unsigned char modrm = next();
        i.mod = modrm >> 6, i.reg = modrm >> 3 & 7, i.rm = modrm & 7;
        if (i.mod != 3) {
            std::size_t displacement = i.mod == 1 ? 1 : i.mod == 2 ? 4 : 0;
            if (i.rm == 4) {
                const unsigned char sib = next();
                if (i.mod == 0 && (sib & 7) == 5) displacement = 4;
            } else if (i.mod == 0 && i.rm == 5) {
                displacement = 4;
            }
            at += displacement;
        }
    }
    i.immediate = i.map == 0 ? one_byte_immediate(i) : i.map == 1 ? two_byte_immediate(i.opcode) : i.map == 3;
    if (at + i.immediate > bytes) return i;
    if (i.immediate == 4) std::memcpy(&i.target, code + at, 4);
    at += i.immediate;
    i.length = at;
    return i;
}

/// Arithmetic of SSE: 58 add, 59 multiply, 5C subtract, 5D minimum, 5E divide, 5F maximum, 51 root, 2A, 2C,
/// 2D and 5A conversions, 2E and 2F comparisons. Moves and bit operations are free or nearly so on a GPU.
void count_float(const Instruction& i, Arithmetic& sum, std::uint64_t& products) {
    const bool is_double = i.repeat == 0xf2 || (i.repeat == 0 && i.operand_size);
    switch (i.opcode) {
        case 0x59:
            ++products;
            [[fallthrough]];
        case 0x58:
        case 0x5c:
        case 0x5d:
        case 0x5f:
        case 0x2a:
        case 0x2c:
        case 0x2d:
        case 0x2e:
        case 0x2f:
        case 0x5a:
            ++(is_double ? sum.doubles : sum.floats);
            break;
        case 0x51:
        case 0x5e:
            ++sum.special;
            break;
        default:
            break;
    }
}

bool is_branch(const Instruction& i) {
    return (i.map == 0 && i.opcode >= 0x70 && i.opcode <= 0x7f) ||
           (i.map == 1 && i.opcode >= 0x80 && i.opcode <= 0x8f);
}

/// Additions, comparisons, shifts, products and addresses, except those that keep the
/// stack or zero registers.
bool is_integer(const Instruction& i) {
    const unsigned char op = i.opcode;
    if (i.map == 1) return op == 0xaf || (op >= 0x40 && op <= 0x4f) || (op >= 0x90 && op <= 0x9f);
    if (i.map != 0) return false;
    if (op < 0x40) {
        const bool zeroes = (op == 0x31 || op == 0x33) && i.mod == 3 && i.reg == i.rm;
        return (op & 7) < 6 && !zeroes;
    }
    if (op >= 0x80 && op <= 0x83) return !(i.mod == 3 && i.rm == 4);
    return op == 0x69 || op == 0x6b || op == 0x84 || op == 0x85 || op == 0x8d || op == 0xa8 || op == 0xa9 ||
           op == 0xc0 || op == 0xc1 || (op >= 0xd0 && op <= 0xd3) || (op == 0xf6 && i.reg < 4) ||
           (op == 0xf7 && i.reg < 6) || ((op == 0xfe || op == 0xff) && i.reg < 2);
}

}  // namespace

Arithmetic arithmetic_of(const unsigned char* code, std::size_t bytes, const void* begin_of_block) {
    Arithmetic sum;
    std::uint64_t products = 0;
    bool compared = false;  // the instruction before compares with a constant
    for (std::size_t at = 0; at < bytes;) {
        const Instruction i = decode(code + at, bytes - at);
        if (i.length == 0) break;
        at += i.length;
        if (i.map == 0) {
            if (i.opcode == 0xc3 || i.opcode == 0xc2 || i.opcode == 0xe9 || i.opcode == 0xeb) break;
            if (i.opcode == 0xff && (i.reg == 4 || i.reg == 5)) break;
            if (i.opcode == 0xe8 && code + at + i.target == begin_of_block) break;
            if ((i.opcode == 0xf6 || i.opcode == 0xf7) && i.reg >= 6)
                ++(i.wide ? sum.wide_divisions : sum.divisions);
        }
        if (i.map == 1 && i.opcode >= 0x10 && i.opcode < 0x60) count_float(i, sum, products);
        if (is_branch(i)) {
            // "Above" after a comparison with a constant is a check of an array's bounds, which a GPU
            // does not make.
            const bool bounds = compared && (i.opcode == 0x77 || i.opcode == 0x87);
            if (bounds)
                --sum.integers;
            else
                ++sum.branches;
        } else if (is_integer(i)) {
            ++sum.integers;
        }
        compared = i.map == 0 && (i.opcode == 0x81 || i.opcode == 0x83 || i.opcode == 0x3d) &&
                   (i.opcode == 0x3d || i.reg == 7);
    }
    // A product and a sum make one fused multiply-add.
    const std::uint64_t all = sum.floats + sum.doubles;
    sum.fusable = products < all - products ? products : all - products;
    return sum;
}

Arithmetic arithmetic_at(const void* pc) {
#if defined(__x86_64__)
    constexpr std::size_t most = 8192;  // bytes of one basic block; the code of a program is longer
    return arithmetic_of(static_cast<const unsigned char*>(pc), most,
                         reinterpret_cast<const void*>(&__sanitizer_cov_trace_pc));
#else
    (void)pc;
    return {};
#endif
}

}  // namespace simt::check
