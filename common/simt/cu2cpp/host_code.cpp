// What belongs to the host, where device code names it. C++ would run it; no CUDA compiler takes it.
#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "cu2cpp/passes.h"

namespace cu2cpp {
namespace {

/// A function of the standard library, and what to write instead.
struct Remedy {
    std::string_view name;
    std::string_view text;
};

constexpr std::string_view written_out = "write it out, or call a `__device__` function of your own";
constexpr std::string_view no_container =
    "a thread has arrays, `int v[8]`, and pointers to memory that the host allocated";
constexpr std::string_view no_stream = "a kernel has `printf`";

constexpr std::array<Remedy, 4> cuda_has = {{{"min", "write `min(a, b)`: without `std::` it is CUDA's own"},
                                             {"max", "write `max(a, b)`: without `std::` it is CUDA's own"},
                                             {"clamp", "write `min(max(x, low), high)`"},
                                             {"swap", "write it out: `const float t = a; a = b; b = t;`"}}};
constexpr std::array<std::string_view, 30> algorithms = {
    "accumulate",  "all_of",   "any_of",      "copy",      "copy_n",     "count",
    "count_if",    "equal",    "exchange",    "fill",      "fill_n",     "find",
    "find_if",     "for_each", "gcd",         "generate",  "get",        "inner_product",
    "iota",        "lcm",      "lower_bound", "make_pair", "make_tuple", "max_element",
    "min_element", "minmax",   "partial_sum", "reverse",   "sort",       "upper_bound"};
constexpr std::array<std::string_view, 11> containers = {
    "vector",        "string",        "map",        "set",        "deque",   "list",
    "unordered_map", "unordered_set", "unique_ptr", "shared_ptr", "function"};
constexpr std::array<std::string_view, 3> streams = {"cout", "cerr", "clog"};

/// What CUDA has of the C library in device code: crt/common_functions.h and crt/math_functions.h of
/// CUDA 13.0. `sync` and `wait` are of cooperative groups.
constexpr std::string_view device_library =
    "__assert __assert_fail __ffs __finite __finitef __isinf __isinff __isnan __isnanf __nanosleep "
    "__signbit __signbitf abs acos acosf acosh acoshf asin asinf asinh asinhf assert atan atan2 "
    "atan2f atanf atanh atanhf cbrt cbrtf ceil ceilf clock copysign copysignf cos cosf cosh coshf erf "
    "erfc erfcf erff exp exp10 exp10f exp2 exp2f expf expm1 expm1f fabs fabsf fdim fdimf floor floorf "
    "fma fmaf fmax fmaxf fmin fminf fmod fmodf free frexp frexpf hypot hypotf ilogb ilogbf isfinite "
    "isinf isnan j0 j0f j1 j1f jn jnf labs ldexp ldexpf lgamma lgammaf llabs llrint llrintf llround "
    "llroundf log log10 log10f log1p log1pf log2 log2f logb logbf logf lrint lrintf lround lroundf "
    "malloc memcpy memset modf modff nan nanf nearbyint nearbyintf nextafter nextafterf pow powf "
    "printf remainder remainderf remquo remquof rint rintf round roundf scalbln scalblnf scalbn "
    "scalbnf signbit sin sincos sincosf sinf sinh sinhf sqrt sqrtf sync tan tanf tanh tanhf tgamma "
    "tgammaf trunc truncf wait y0 y0f y1 y1f yn ynf";
/// What it has of `std` besides, and types, whose values are made in the form of a call.
constexpr std::string_view device_std =
    "array bool_constant byte complex declval divides equal_to false_type forward greater "
    "greater_equal index_sequence initializer_list integer_sequence integral_constant less "
    "less_equal logical_and logical_not logical_or make_index_sequence make_integer_sequence "
    "minus modulus move multiplies negate not_equal_to pair plus true_type tuple";
/// What ends a kernel here. No CUDA compiler takes it, and it stores nothing.
constexpr std::string_view ends_a_kernel = "abort terminate";
/// Compilers' own functions that store nothing, or in a way that is seen: how their names begin behind
/// `__builtin_`.
constexpr std::array<std::string_view, 30> harmless_builtins = {
    "FILE",    "FUNCTION", "LINE",  "add_overflow", "addressof", "alloca", "assume",   "bit_cast",
    "bswap",   "choose",   "clz",   "constant_p",   "convert",   "ctz",    "expect",   "ffs",
    "huge_",   "inf",      "is",    "launder",      "mul_over",  "nan",    "offsetof", "parity",
    "popcoun", "prefetch", "signb", "sub_overflow", "trap",      "unreach"};

/// Names of which CUDA has functions of its own: with theirs beside the host's, the arguments decide.
constexpr std::array<std::string_view, 24> overloaded = {
    "abs", "ceil", "cos",   "erf", "exp", "exp2", "fabs", "floor", "fma",   "fmax", "fmin", "fmod",
    "log", "log2", "log10", "max", "min", "norm", "pow",  "round", "rsqrt", "sin",  "sqrt", "tanh"};

/// How the names of the runtime's functions begin.
constexpr std::array<std::string_view, 21> runtime_families = {
    "cudaBind", "cudaChoose",    "cudaCreate",  "cudaDestroy", "cudaDevice", "cudaEvent",  "cudaFree",
    "cudaFunc", "cudaGet",       "cudaGraph",   "cudaHost",    "cudaIpc",    "cudaLaunch", "cudaMalloc",
    "cudaMem",  "cudaOccupancy", "cudaPointer", "cudaSet",     "cudaStream", "cudaThread", "cudaUnbind"};
/// Those that device code may call (CUDA Programming Guide, "CUDA Dynamic Parallelism", API reference).
constexpr std::array<std::string_view, 21> device_runtime = {
    "cudaMalloc",
    "cudaFree",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaGetErrorString",
    "cudaGetErrorName",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetLimit",
    "cudaDeviceGetCacheConfig",
    "cudaDeviceGetSharedMemConfig",
    "cudaFuncGetAttributes",
    "cudaRuntimeGetVersion",
    "cudaStreamCreateWithFlags",
    "cudaStreamDestroy",
    "cudaGraphSetConditional",
    "cudaGetCurrentGraphExec",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaOccupancyMaxPotentialBlockSize"};
/// Those that it may call on a device, and not here.
constexpr std::array<std::string_view, 11> device_runtime_elsewhere = {
    "cudaEventCreateWithFlags", "cudaEventDestroy",  "cudaEventRecord",   "cudaStreamWaitEvent",
    "cudaMemcpyAsync",          "cudaMemcpy2DAsync", "cudaMemcpy3DAsync", "cudaMemsetAsync",
    "cudaMemset2DAsync",        "cudaMemset3DAsync", "cudaGraphLaunch"};

/// Is token i part of a statement that begins with a type: `float *a`, and not `y = x * a`?
bool follows_type(const Sequence& seq, std::size_t i, std::size_t begin) {
    std::size_t k = i;
    while (k > begin && (seq.is(k - 1, "*") || seq.is(k - 1, "&") || seq.is(k - 1, "&&"))) --k;
    const bool pointer = k < i;
    if (k == begin) return false;
    // `float (&a)[4]`, `void (*a)(int)`
    if (pointer && seq.is(k - 1, "(") && seq.is(i + 1, ")") && (seq.is(i + 2, "[") || seq.is(i + 2, "(")))
        return true;
    if (seq.is(k - 1, ">")) return seq.open_angle(k - 1) != npos;
    if (!seq.is_identifier(k - 1)) return false;
    if (!pointer) {
        const std::string_view word = seq[k - 1].text;
        return !is_keyword(word) || word == "const" || word == "volatile";
    }
    while (k > begin && (seq.is_identifier(k - 1) || seq.is(k - 1, "::"))) --k;
    return k == begin || seq.is(k - 1, ";") || seq.is(k - 1, "{") || seq.is(k - 1, "}") ||
           seq.is(k - 1, "(") || seq.is(k - 1, ",");
}

/// Is token i, behind a comma or a `[`, one more name that a declaration declares: `int u, v[2];`,
/// `auto [u, v] = f();`, and not an argument?
bool is_further_declarator(const Sequence& seq, std::size_t i, std::size_t begin) {
    std::size_t k = i;
    while (k-- > begin) {
        const std::string_view word = seq[k].text;
        if (word == ";") return seq.is(i - 1, ",");
        if (word == "(") return k > 0 && seq.is(k - 1, "for") && seq.is(i - 1, ",");
        if (word == "[") {  // of a binding or of a capture
            const bool value =
                k > 0 && (seq.is_identifier(k - 1) || seq.is(k - 1, ")") || seq.is(k - 1, "]"));
            return !value || seq.is(k - 1, "auto");
        }
        if (word == "{") {  // of a block that begins with a declaration, not of a list of values
            const bool type =
                seq.is_identifier(k + 1) &&
                (is_builtin_type(seq[k + 1].text) || seq.is_identifier(k + 2) || seq.is(k + 2, "::") ||
                 seq.is(k + 2, "*") || seq.is(k + 2, "&") || seq.is(k + 2, "<"));
            return seq.is(i - 1, ",") && type;
        }
        if ((word == ")" || word == "]") && seq.match(k) != npos) k = seq.match(k);
        if (word == "}") {
            if (seq.match(k) == npos || seq.match(k) == 0) return true;
            const std::size_t open = seq.match(k);
            if (!seq.is(open - 1, "=") && !seq.is_identifier(open - 1)) return seq.is(i - 1, ",");
            k = open;
        }
    }
    return false;
}

/// Does the function around token i declare its name, there or in front of it?
bool is_declared_in_function(const Sequence& seq, std::size_t function, std::size_t i) {
    if (function == npos) return true;
    for (std::size_t k = function; k <= i; ++k) {
        if (!seq.is(k, seq[i].text)) continue;
        if (follows_type(seq, k, function)) return true;
        const bool further = k > function && (seq.is(k - 1, ",") || seq.is(k - 1, "["));
        if (further && is_further_declarator(seq, k, function)) return true;
    }
    return false;
}

/// `.v`, `->v`, or `N::v` where N is not the namespace it is known to be in.
bool is_of_something_else(const Sequence& seq, std::size_t i, std::string_view space) {
    if (i == 0) return false;
    if (seq.is(i - 1, "::")) return space.empty() || i < 2 || !seq.is(i - 2, space);
    return seq.is(i - 1, ".") || seq.is(i - 1, "->");
}

/// Is token i in a template's arguments, of the statement that it is in?
bool is_in_template_arguments(const Sequence& seq, std::size_t i) {
    for (std::size_t k = i; k-- > 0 && !seq.is(k, ";") && !seq.is(k, "{") && !seq.is(k, "}");) {
        const std::size_t stop = seq.is(k, "<") ? seq.skip_angles(k) : npos;
        if (stop != npos && stop > i) return true;
    }
    return false;
}

/// Is token i in the initialiser of a host variable at namespace scope, and not in a parameter's default?
bool is_in_host_variable(const Unit& unit, const Sequence& seq, std::size_t i) {
    for (std::size_t k = i; k-- > 0 && !seq.is(k, ";") && !seq.is(k, "}");) {
        const std::string_view word = seq[k].text;
        if (is_cuda_specifier(word) || word == "constexpr" || word == "constinit" || word == "template" ||
            unit.out.exports.execution_macros.count(word) != 0)
            return false;
        if (word == "(" && seq.skip_group(k) > i) return false;
    }
    return true;
}

/// Does the C library that device code would be linked with have this, and CUDA not?
bool is_host_library(std::string_view word) {
    return !is_among(device_library, word) && !is_among(ends_a_kernel, word) &&
           dlsym(RTLD_DEFAULT, std::string(word).c_str()) != nullptr;
}

bool is_harmless_builtin(std::string_view word) {
    const std::string_view name = word.substr(std::string_view("__builtin_").size());
    return is_among(device_library, name) ||
           std::any_of(harmless_builtins.begin(), harmless_builtins.end(),
                       [&](std::string_view start) { return name.substr(0, start.size()) == start; });
}

/// A function of `std` that CUDA has in device code, or a type.
bool is_in_device_std(std::string_view name) {
    const auto ends = [&](std::string_view end) {
        return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
    };
    return is_among(device_library, name) || is_among(device_std, name) || is_among(ends_a_kernel, name) ||
           ends("_t") || name.substr(0, 3) == "is_";
}

/// Instructions of a CPU, as its compilers' headers name them: `_mm_store_ps`.
bool is_cpu_intrinsic(std::string_view word) { return word.substr(0, 3) == "_mm"; }

bool is_not_of_device(std::string_view word) { return is_cpu_intrinsic(word) || is_host_library(word); }

/// Can token i name a function of the C library, and not something of the program's own?
bool may_be_library(const Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const Exports& exports = unit.out.exports;
    const std::string_view word = seq[i].text;
    const bool address = i > 0 && takes_address(seq, i - 1);
    const bool called = seq.is(i + 1, "(") || address ||
                        (i > 0 && seq.is(i - 1, "(") && seq.is(i + 1, ")") && seq.is(i + 2, "("));
    if (!called || exports.functions.count(word) != 0 || exports.variables.count(word) != 0) return false;
    if (i > 0 && (seq.is(i - 1, ".") || seq.is(i - 1, "->"))) return false;
    if (i > 0 && seq.is(i - 1, "::"))
        return i < 2 || !seq.is_identifier(i - 2) || is_keyword(seq[i - 2].text);
    if (context.macro) return context.parameters.count(word) == 0;
    const std::size_t begin = context.member || context.function == npos ? 0 : context.function;
    return !is_declared_in_function(seq, begin, i) && !follows_type(seq, i, begin);
}

/// Is code here of a function, not of a macro or of a declaration?
bool in_function(const Context& context) { return !context.macro && context.in_code(); }

}  // namespace

bool is_host_function(const Unit& unit, const Sequence& seq, Range head) {
    const std::size_t name = function_name(seq, head);
    const auto& macros = unit.out.exports.execution_macros;
    for (std::size_t k = head.begin; k < name; ++k) {
        if (macros.count(seq[k].text) != 0) return false;
    }
    return !may_be_declared_for_device(seq, head);
}

void note_variables(Unit& unit, const Sequence& seq, Range whole, std::string_view space) {
    for (const std::string_view word : {"template", "typedef", "using", "friend"}) {
        if (seq.is(whole.begin, word)) return;
    }
    const auto declaration = parse_declaration(seq, whole);
    if (!declaration) return;
    // The value of a constant is known to the device, too, but for an array's.
    bool constant = false, known = true, builtin = false, std_array = false;
    std::size_t types = 0;
    for (std::size_t k = declaration->specifiers.begin; k < declaration->specifiers.end; ++k) {
        const std::string_view word = seq[k].text;
        if (word == "<" && seq.is(k - 1, "array") && seq.is(k - 2, "::") && seq.is(k - 3, "std") &&
            seq.skip_angles(k) != npos) {
            std_array = true;
            k = seq.skip_angles(k) - 1;
            continue;
        }
        constant = constant || word == "const" || word == "constexpr";
        if (word == "::") continue;
        known = known && seq.is_identifier(k) && !is_cuda_specifier(word) &&
                !takes_attribute_arguments(word) && unit.out.exports.execution_macros.count(word) == 0;
        if (is_builtin_type(word))
            builtin = true;
        else if (!seq.is(k - 1, "::") && !is_keyword(word) && word != "thread_local" && word != "constinit")
            ++types;
    }
    known = known && types + (builtin ? 1u : 0u) == 1;
    if (std_array && constant && unit.options.relaxed_constexpr) std_array = false;
    for (const Declarator& d : declaration->declarators) {
        if (d.qualified || d.name.end != d.name.begin + 1 || is_builtin_type(seq[d.name.begin].text))
            continue;
        // A name of a type may be that of a function, or of a constant.
        const bool host = d.first_extent != npos || std_array || (!constant && (d.pointer || builtin));
        unit.out.exports.note_variable(seq[d.name.begin].text,
                                       {known && !d.parameters && host, std::string(space)});
    }
}

void call(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!in_function(context) || !seq.is(i + 1, "(") || seq.match(i + 1) == npos) return;
    const auto found = unit.out.exports.functions.find(seq[i].text);
    if (found == unit.out.exports.functions.end()) return;
    if (context.member || is_of_something_else(seq, i, found->second.space)) return;
    if (follows_type(seq, i, context.function == npos ? 0 : context.function)) return;
    const Exports::Function& function = found->second;
    const std::string name = "`" + found->first + "`";
    if (function.kernel && !function.parameters.empty() && !function.host && !function.device) {
        const auto wanted = std::count(function.parameters.begin(), function.parameters.end(), ',');
        if (static_cast<std::ptrdiff_t>(split(seq, {i + 2, seq.match(i + 1)}).size()) != wanted) return;
        unit.refuse(seq[i], "kernel " + name +
                                " called like a function; a kernel has to be launched: write `" +
                                found->first + "<<<grid, block>>>(...)`");
    } else if (function.host && !function.kernel && !function.device && context.device) {
        if (function.relaxed && unit.options.relaxed_constexpr) return;
        const bool qualified = seq.is(i - 1, "::");
        if (!qualified &&
            (contains(overloaded, found->first) || is_declared_in_function(seq, context.function, i)))
            return;
        unit.refuse(seq[i],
                    "host function " + name +
                        " called from device code; a device cannot run it; write `__device__` or `__host__ "
                        "__device__` in front of it");
    }
}

void function_of_device(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (context.macro || context.device || context.both) return;
    const auto found = unit.out.exports.functions.find(seq[i].text);
    if (found == unit.out.exports.functions.end() || found->second.device_only.empty()) return;
    if (is_of_something_else(seq, i, found->second.space)) return;
    const std::size_t begin = qualified_begin(seq, i);
    std::size_t end = i + 1;
    if (found->second.device_only[0] == '<') {
        if (!seq.is(end, "<") || seq.skip_angles(end) == npos) return;
        end = seq.skip_angles(end);
    }
    const std::size_t first = begin > 0 && seq.is(begin - 1, "&") ? begin - 1 : begin;
    static constexpr std::array<std::string_view, 7> before = {"=", "(", ",", "{", "return", "?", ":"};
    static constexpr std::array<std::string_view, 6> behind = {";", ")", ",", "}", ":", "?"};
    if (first == 0 || end >= seq.size() || !contains(before, seq[first - 1].text) ||
        !contains(behind, seq[end].text))
        return;
    const bool unevaluated = seq.is(first - 1, "(") && first > 1 &&
                             (seq.is(first - 2, "decltype") || seq.is(first - 2, "sizeof") ||
                              seq.is(first - 2, "noexcept") || seq.is(first - 2, "typeid"));
    if (unevaluated || is_in_template_arguments(seq, i)) return;
    if (in_function(context) ? is_declared_in_function(seq, context.function, i)
                             : context.scope == ScopeKind::class_ || !is_in_host_variable(unit, seq, i))
        return;
    if (first != begin) unit.blank(seq[first]);
    unit.insert(seq[begin].begin, "::simt::of_host(");
    unit.insert(seq[end - 1].end, ", " + quoted(context, {begin, end}) + ")");
}

void runtime_function(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!in_function(context) || !context.device || !seq.is(i + 1, "(")) return;
    const std::string_view word = seq[i].text;
    const bool known = std::any_of(runtime_families.begin(), runtime_families.end(),
                                   [&](std::string_view f) { return word.substr(0, f.size()) == f; });
    if (!known || contains(device_runtime, word) || word.substr(word.size() - 2) == "_t") return;
    const bool global = i > 0 && seq.is(i - 1, "::") && (i < 2 || !seq.is_identifier(i - 2));
    if (context.member || (!global && is_of_something_else(seq, i, "")) ||
        unit.out.exports.functions.count(word) != 0 ||
        follows_type(seq, i, context.function == npos ? 0 : context.function))
        return;
    const std::string name = "`" + std::string(word) + "`";
    if (contains(device_runtime_elsewhere, word)) {
        unit.refuse(
            seq[i],
            name +
                " in device code; the CPU backend has it for the host alone; write a loop, or launch a "
                "kernel, and leave copies and events to the host");
    } else {
        unit.refuse(
            seq[i],
            "host function " + name +
                " called from device code; a device cannot run it; call it on the host, before or after the "
                "launch");
    }
}

void constant_of_device(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!in_function(context) || (context.device && !context.both)) return;
    const auto found = unit.out.exports.device_constants.find(seq[i].text);
    if (found == unit.out.exports.device_constants.end()) return;
    if (seq.is(i - 1, ".") || seq.is(i - 1, "->") || is_declared_in_function(seq, context.function, i))
        return;
    unit.refuse(seq[i],
                "`" + *found +
                    "`, which `__CUDA_ARCH__` makes another for the host; host and device are compiled "
                    "at once, and here it is the device's; give it two names");
}

void variable_of_host(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!in_function(context) || !context.device || context.member) return;
    const auto found = unit.out.exports.variables.find(seq[i].text);
    if (found == unit.out.exports.variables.end() || !found->second.host) return;
    if (unit.out.exports.functions.count(seq[i].text) != 0) return;
    const bool qualified = seq.is(i - 1, "::");
    if (is_of_something_else(seq, i, found->second.space) || seq.is(i + 1, "::") || seq.is(i - 1, "sizeof"))
        return;
    if (i > 1 && seq.is(i - 1, "(") && (seq.is(i - 2, "sizeof") || seq.is(i - 2, "decltype"))) return;
    if (!qualified && is_declared_in_function(seq, context.function, i)) return;
    unit.refuse(seq[i],
                "variable `" + found->first +
                    "` of the host used in device code; a device does not see the host's memory; write "
                    "`__constant__` or `__device__` in front of its declaration, or pass it to the kernel");
}

std::string library_function_in(const Unit& unit, const Context& macro) {
    const Sequence& seq = *macro.seq;
    for (std::size_t k = 0; k < seq.size(); ++k) {
        if (!seq.is_identifier(k)) continue;
        const auto known = unit.out.exports.macros.find(seq[k].text);
        if (known != unit.out.exports.macros.end() && !known->second.empty()) return known->second;
        const bool alone = seq.size() == 1;
        if ((alone || may_be_library(unit, macro, k)) && is_not_of_device(seq[k].text))
            return std::string(seq[k].text);
        const bool of_std = k > 1 && seq.is(k - 1, "::") && seq.is(k - 2, "std") && seq.is(k + 1, "(");
        if (of_std && !is_in_device_std(seq[k].text)) return "std::" + std::string(seq[k].text);
    }
    return {};
}

void library_function(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    const bool runs_there = context.device || (context.surely_both && !context.host && !unit.options.lenient);
    if (!in_function(context) || !runs_there) return;
    const auto names = unit.out.exports.macros.find(seq[i].text);
    if (names != unit.out.exports.macros.end()) {
        const bool used = names->second.substr(0, 5) != "std::" || may_be_library(unit, context, i);
        if (used && !names->second.empty() && context.device)
            unit.refuse(seq[i], "host function `" + names->second + "`, which `" + names->first +
                                    "` stands for, called from device code; a device has no such function; " +
                                    std::string(written_out));
        return;
    }
    if (!may_be_library(unit, context, i) || !is_not_of_device(seq[i].text)) return;
    unit.refuse(seq[i], "host function `" + std::string(seq[i].text) +
                            "` called from device code; a device has no such function; " +
                            std::string(written_out));
}

static void bit_cast(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (!seq.is(i + 1, "(") || seq.match(i + 1) == npos) return;
    for (std::size_t k = i + 2; k < seq.match(i + 1);) {
        if (seq.is(k, ",")) {
            unit.replace(seq[i], runtime(context, "bit_cast"));
            unit.replace(seq[i + 1], "<");
            return unit.replace(seq[k], ">(");
        }
        const std::size_t angles = seq.is(k, "<") ? seq.skip_angles(k) : npos;
        k = angles != npos ? angles : seq.is(k, "(") || seq.is(k, "[") ? seq.skip_group(k) : k + 1;
    }
}

void builtin_function(Unit& unit, const Context& context, std::size_t i) {
    const Token& token = (*context.seq)[i];
    if (!(context.device || context.both || context.macro)) return;
    for (const std::string_view copy : {"memcpy", "memset"}) {
        if (token.text.substr(10) == copy) return unit.replace(token, std::string(copy));
    }
    if (token.is("__builtin_bit_cast")) return bit_cast(unit, context, i);
    if (is_harmless_builtin(token.text) || !(context.device || context.macro)) return;
    unit.complain(context, token, "`" + std::string(token.text) + "` in device code",
                  "CUDA does not have it there; " + std::string(written_out));
}

void library_of_host(Unit& unit, const Context& context, std::size_t i) {
    const Sequence& seq = *context.seq;
    if (i > 0 && seq.is(i - 1, "using") && seq.is(i + 1, "::") && seq.is(i + 3, ";") && !context.macro &&
        !is_in_device_std(seq[i + 2].text) && !contains(overloaded, seq[i + 2].text))
        unit.out.exports.macros[std::string(seq[i + 2].text)] = "std::" + std::string(seq[i + 2].text);
    if (!in_function(context) || !context.device || !seq.is(i + 1, "::") || !seq.is_identifier(i + 2)) return;
    const bool nested =
        i > 1 && seq.is(i - 1, "::") && seq.is_identifier(i - 2) && !is_keyword(seq[i - 2].text);
    if (nested) return;  // `cuda::std`
    const std::string_view name = seq[i + 2].text;
    std::size_t behind = i + 3;
    if (seq.is(behind, "<")) behind = seq.skip_angles(behind);
    if (behind == npos) return;
    std::string spelled = "std::" + std::string(name);
    std::string_view remedy;
    bool relaxed = true;  // a `constexpr` function
    const auto* own =
        std::find_if(cuda_has.begin(), cuda_has.end(), [&](const Remedy& r) { return r.name == name; });
    if (own != cuda_has.end() && seq.is(behind, "(")) {
        remedy = own->text;
    } else if (contains(algorithms, name) && seq.is(behind, "(")) {
        remedy = written_out;
    } else if (name == "numeric_limits" && seq.is(behind, "::") && seq.is_identifier(behind + 1) &&
               seq.is(behind + 2, "(")) {
        spelled += spelling(seq, {i + 3, behind + 2});
        remedy =
            "make it a `constexpr` variable outside of the function, or take `FLT_MAX`, `INFINITY` and their "
            "like";
    } else if (contains(containers, name) &&
               (seq.is_identifier(behind) || seq.is(behind, "(") || seq.is(behind, "{"))) {
        remedy = no_container;
        relaxed = false;
    } else if (contains(streams, name)) {
        remedy = no_stream;
        relaxed = false;
    } else if (!seq.is(i - 1, "throw") && !is_in_device_std(name) &&
               (seq.is(behind, "(") || is_host_library(name))) {
        remedy = written_out;
        relaxed = !is_host_library(name);
    } else {
        return;
    }
    if (relaxed && unit.options.relaxed_constexpr) return;
    unit.refuse(seq[i], "`" + spelled + "` in device code; it belongs to the host; " + std::string(remedy));
}

}  // namespace cu2cpp
