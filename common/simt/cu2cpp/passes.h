#pragma once

#include "cu2cpp/unit.h"

// The passes: each translates one construct at the token that it begins with, and leaves edits and refusals
// in the unit. translator.cpp calls them, going through the file once.
namespace cu2cpp {

// ---- launches.cpp ----

/// `k<<<grid, block>>>(a)` becomes `::simt::kernel("k", ...)[::simt::cfg(grid, block)](a)`.
void launch(Unit& unit, const Context& context, std::size_t i);

/// `cudaLaunchKernel((void*)k<16>, ...)`: the cast goes, the runtime's templates need the kernel's type.
void kernel_argument(Unit& unit, const Context& context, std::size_t i);

/// `parameters.func = (void*)k;`: the runtime needs the kernel's type. The member of another structure
/// gets its `void*` all the same.
void kernel_member(Unit& unit, const Context& context, std::size_t i);

// ---- shared.cpp ----

/// `__shared__ T a[16], b;` becomes `typedef T simt_type_a[16], simt_type_b;` and, behind the `;`, one
/// reference for each name into the block's own memory. So types of every shape work, and every token
/// keeps its line.
void shared(Unit& unit, const Context& context, std::size_t i);

/// From the first specifier to the `;`, or what else ends it, of the declaration that has a specifier at `i`.
[[nodiscard]] Range declaration_around(const Sequence& seq, std::size_t i);

/// Outside functions the references have no block: each device function that names such a variable gets the
/// reference in front of its body, in braces of its own, so that the body may have other things of that name.
void use_of_shared(Unit& unit, const Sequence& seq, Range head);

// ---- declarations.cpp ----

/// Refuses `texture<float> t;`, which CUDA 12 removed, or makes it private to its file; false when `whole` is
/// something else.
bool texture_reference(Unit& unit, const Sequence& seq, Range whole);

/// Makes a device function, or a kernel template, private to its file. nvcc compiles device code file by
/// file, so two files may have different functions of one name; in C++ the linker would silently keep
/// one of them.
void device_function(Unit& unit, const Sequence& seq, Range head);

/// Remembers what the name of a function stands for: see launch() and call().
/// @param space the innermost namespace with a name around it
void note_function(Unit& unit, const Sequence& seq, Range head, std::string_view space);

/// Remembers a function that a class declares its friend.
void note_friend(Unit& unit, const Sequence& seq, Range whole);

/// `extern int v;` or `int f();` without a CUDA word; a later `__device__ int v;` or `__device__ int f() {}`
/// defines it.
void note_extern(Unit& unit, const Sequence& seq, Range whole);

/// Registers `__device__`, `__constant__` and `__managed__` variables with the runtime, behind the `;`.
void device_variables(Unit& unit, const Sequence& seq, Range whole, std::size_t semicolon);

// ---- statics.cpp ----

/// `static int n;` in a device function lies on the device: the runtime is told of it behind the `;`. In a
/// function for both sides each side gets a variable of its own.
void static_variable(Unit& unit, const Context& context, std::size_t i);

/// Remembers `template <class T> __device__ T v;`, whose instances are registered where they are used.
void note_variable_template(Unit& unit, const Sequence& seq, Range whole);
/// `v<int>` in a function, of such a template.
void use_of_variable_template(Unit& unit, const Context& context, std::size_t i);

// ---- host_code.cpp ----

/// True for a function that only the host can call, as far as its head tells.
[[nodiscard]] bool is_host_function(const Unit& unit, const Sequence& seq, Range head);

/// Remembers whom variables at namespace scope belong to.
/// @param space the innermost namespace with a name around them
void note_variables(Unit& unit, const Sequence& seq, Range whole, std::string_view space);

/// A kernel called without a launch, or a host function called by device code: C++ that runs, and that no
/// CUDA compiler takes.
void call(Unit& unit, const Context& context, std::size_t i);

/// `f = twice;` on the host, of a device function: the address is the host's, and nothing that a kernel can
/// call.
void function_of_device(Unit& unit, const Context& context, std::size_t i);

/// `cudaMemcpy(...)` in device code: most of the runtime's functions are the host's.
void runtime_function(Unit& unit, const Context& context, std::size_t i);

/// Refuses one of Exports::device_constants in a function that the host may call.
void constant_of_device(Unit& unit, const Context& context, std::size_t i);

/// `table[i]` in device code, of a variable that lies in the host's memory.
void variable_of_host(Unit& unit, const Context& context, std::size_t i);

/// `std::min(a, b)`, `std::vector<int> v` in device code: the standard library is the host's, except what
/// CUDA has.
void library_of_host(Unit& unit, const Context& context, std::size_t i);

/// `snprintf(...)` in device code, or a macro that calls it: so is the C library.
void library_function(Unit& unit, const Context& context, std::size_t i);
/// The first function of that kind in a macro's text, or "".
[[nodiscard]] std::string library_function_in(const Unit& unit, const Context& macro);

/// `__builtin_memcpy(...)` in device code becomes `memcpy(...)`, whose accesses check mode sees; what CUDA
/// does not have is refused.
void builtin_function(Unit& unit, const Context& context, std::size_t i);

// ---- unread.cpp ----

/// `cudaMemcpy(...);` on the host: its error is dropped, as by `(void)`, or by a variable that nobody reads.
/// For TranslateOptions::dropped_errors.
void dropped_error(Unit& unit, const Context& context, std::size_t i);

// ---- conditions.cpp ----

/// `__CUDA_ARCH__` in device code: the virtual device's compute capability, 9.0.
constexpr std::string_view device_architecture = "900";

/// Who runs a piece of code. `outside`: no function's, so that both may see it.
enum class Side : unsigned char { host, device, both, outside };

/// An `#if`, its `#elif`s and `#else`, and its `#endif`, which are neighbours in one array.
struct ConditionalGroup {
    std::vector<const Directive*> parts;
};

/// Decides an `#if` on `__CUDA_ARCH__`: in device code by the device's value; in the host's it is undefined;
/// in functions for both when they run. What cannot be decided is refused.
/// @param scope_end the `}` of the block around it
/// @return on which side each branch is
[[nodiscard]] std::vector<Side> architecture_group(Unit& unit, const Sequence& seq,
                                                   const ConditionalGroup& group, Side side,
                                                   std::size_t scope_end);

// ---- shifts.cpp ----

/// `a << n` in device code becomes `a $L n`, a macro that gives what the hardware does where `n` is too
/// large.
void shift(Unit& unit, const Context& context, std::size_t i);

// ---- words.cpp ----

/// `while (*flag == 0);` in device code gets a body that lets other lanes run.
void waiting_loop(Unit& unit, const Context& context, std::size_t i);

/// `__CUDA_ARCH__` as a number in device code.
void architecture_number(Unit& unit, const Context& context, std::size_t i);

/// Refuses a macro that hides what cannot be translated.
void use_of_macro(Unit& unit, const Context& context, std::size_t i);

/// `__noinline__` cannot be a macro: the standard library has it inside `__attribute__`.
void noinline(Unit& unit, const Context& context, std::size_t i);

/// `_Pragma("unroll")`: as pragma().
void pragma_operator(Unit& unit, const Context& context, std::size_t i);

/// Inline assembly in device code is PTX, an instruction set no CPU has. Reads of most special registers and
/// barriers become the CUDA C++ they stand for. The outputs of one without instructions go by way of
/// simt/stores.h.
void assembly(Unit& unit, const Context& context, std::size_t i);

/// `new (p) T(f())` in device code: see simt/stores.h.
void new_expression(Unit& unit, const Context& context, std::size_t i);

/// A device's `clock()` counts cycles; the C library's, which has its name, counts microseconds.
void clock_call(Unit& unit, const Context& context, std::size_t i);

/// Lists an `#include`, and refuses headers of the vendor that have no counterpart on the CPU.
/// @param at_namespace it stands outside functions and classes
void include(Unit& unit, const Directive& d, bool at_namespace);

/// `#pragma unroll` and nvcc's own pragmas say nothing to a C++ compiler, which would warn: they go.
void pragma(Unit& unit, const Directive& d);

}  // namespace cu2cpp
