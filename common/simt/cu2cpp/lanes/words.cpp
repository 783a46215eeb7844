#include "cu2cpp/lanes/words.h"

#include "cu2cpp/lanes/lanes.h"

namespace cu2cpp::lanes {

bool is_barrier(std::string_view word) {
    return word == "__syncthreads" || word == "__syncwarp" || word == "sync";
}
bool is_wait(std::string_view word) { return is_barrier(word) || contains(shuffles, word); }

bool is_beyond(std::string_view word) {
    static constexpr std::string_view words =
        "__activemask __all_sync __any_sync __ballot_sync __uni_sync __match_any_sync __match_all_sync "
        "__nanosleep __threadfence __trap __syncthreads_or __syncthreads_and asm __asm__ __asm goto try "
        "catch throw clock clock64 globaltimer cg cuda cooperative_groups nvcuda wmma "
        "this_thread_block this_grid tiled_partition coalesced_threads cudaLaunchKernel co_await new "
        "delete operator __CUDA_ARCH__ __syncthreads_count __func__";
    if (is_among(words, word)) return true;
    for (const std::string_view front : {"atomicCAS", "atomicExch", "__threadfence", "__reduce_", "__shfl",
                                         "__pipeline", "__mbarrier", "__nv_atomic", "simt"})
        if (word.substr(0, front.size()) == front && !contains(shuffles, word)) return true;
    return false;
}

bool is_plain_function(std::string_view word) {
    static constexpr std::string_view words =
        "abs labs llabs fabs fabsf min max umin umax fmin fminf fmax fmaxf fma fmaf fmod fmodf sqrt "
        "sqrtf rsqrt rsqrtf cbrt cbrtf rcbrt rcbrtf exp expf exp2 exp2f exp10 exp10f expm1 expm1f log "
        "logf log2 log2f log10 log10f log1p log1pf pow powf sin sinf cos cosf tan tanf sincos sincosf "
        "sinpi cospi asin asinf acos acosf atan atanf atan2 atan2f sinh sinhf cosh coshf tanh tanhf erf "
        "erff erfc erfcf floor floorf ceil ceilf round roundf rint rintf trunc truncf lround lroundf "
        "hypot hypotf copysign copysignf isnan isinf isfinite signbit saturate norm3df ldexpf "
        "nearbyintf remainderf fdimf ldexp";
    if (is_among(words, word)) return true;
    for (const std::string_view front :
         {"make_",    "tex1D", "tex2D", "tex3D",  "__ldg",   "__f",       "__d",    "__int",       "__uint",
          "__half",   "__h",   "__u",   "__ll",   "__log",   "__exp",     "__sin",  "__cos",       "__tan",
          "__pow",    "__mul", "__sad", "__popc", "__clz",   "__ffs",     "__brev", "__byte_perm", "__float",
          "__double", "__sat", "__low", "__high", "__rhadd", "__builtin_"})
        if (word.substr(0, front.size()) == front && !is_wait(word) && !is_beyond(word)) return true;
    return false;
}

bool is_effective_function(std::string_view word) {
    static constexpr std::string_view words =
        "atomicAdd atomicSub atomicMin atomicMax atomicAnd atomicOr atomicXor atomicInc atomicDec "
        "printf atomicAdd_block assert";
    return is_among(words, word);
}

bool is_cast(std::string_view word) {
    return word == "static_cast" || word == "reinterpret_cast" || word == "const_cast" || word == "sizeof" ||
           word == "alignof" || word == "decltype" || word == "float" || word == "double" ||
           word == "size_t" || word == "half" || word == "dim3" || is_builtin_type(word);
}

bool is_assignment(std::string_view word) {
    static constexpr std::array<std::string_view, 13> words = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "<<=", ">>=", "--"};
    return contains(words, word);
}

bool names_the_block(const Sequence& seq, Range statement) {
    std::size_t k = statement.begin;
    while (k < statement.end && (seq.is_identifier(k) || seq.is(k, "::") || seq.is(k, "&"))) ++k;
    if (k == statement.begin || !seq.is(k, "=")) return false;
    for (++k; seq.is_identifier(k) && seq.is(k + 1, "::");) k += 2;
    return seq.is(k, "this_thread_block") && seq.is(k + 1, "(") && seq.is(k + 2, ")") &&
           k + 3 == statement.end;
}

bool may_poll(const Sequence& seq, Range range) {
    bool loops = false, asks = false;
    for (std::size_t k = range.begin + 1; k < range.end; ++k) {
        loops |= seq.is(k, "for") || seq.is(k, "while") || seq.is(k, "do");
        if (body_that_waits(seq, k) != npos) return true;
        if (!seq.is_identifier(k) || seq[k].text.substr(0, 6) != "atomic" || !seq.is(k + 1, "(")) continue;
        const Token& before = seq[k - 1];
        asks |= !(before.is(";") || before.is("{") || before.is("}") || before.is(")") || before.is("else"));
    }
    return loops && asks;
}

}  // namespace cu2cpp::lanes

namespace cu2cpp {

std::size_t body_that_waits(const Sequence& seq, std::size_t k) {
    if (!seq.is(k, "while") || !seq.is(k + 1, "(") || seq.match(k + 1) == npos) return npos;
    const std::size_t close = seq.match(k + 1);
    bool looks = false;
    for (std::size_t t = k + 2; t < close; ++t) {
        if (lanes::is_assignment(seq[t].text)) return npos;  // goes on by itself
        looks |= seq.is_identifier(t) && !seq.is(t, "true");
    }
    if (!looks) return npos;
    const auto is_empty = [&](std::size_t open) { return seq.is(open, "{") && seq.match(open) == open + 1; };
    if (k > 0 && seq.is(k - 1, "}")) {
        const std::size_t open = seq.match(k - 1);
        if (open != npos && open > 0 && seq.is(open - 1, "do")) return is_empty(open) ? open : npos;
    }
    if (k > 1 && seq.is(k - 1, ";")) {  // `do f(); while (...)`
        std::size_t first = k - 1;
        while (first > 0 && !seq.is(first - 1, ";") && !seq.is(first - 1, "{") && !seq.is(first - 1, "}"))
            --first;
        if (seq.is(first, "do")) return first + 1 == k - 1 ? k - 1 : npos;
    }
    return seq.is(close + 1, ";") || is_empty(close + 1) ? close + 1 : npos;
}

}  // namespace cu2cpp
