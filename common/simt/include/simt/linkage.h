/// @file
/// What lets the runtime API be declared once, for C and for C++. As with CUDA, its functions have the
/// linkage of C; overloads and templates are C++'s alone.
#pragma once

#if defined(__cplusplus)
/// A default argument, which C does not have.
#define SIMT_DEFAULT(value) = value
/// A small function that a header defines.
#define SIMT_INLINE constexpr
/// A value of a structure.
#define SIMT_VALUE(type, ...) \
    type { __VA_ARGS__ }
#else
#define SIMT_DEFAULT(value)
#define SIMT_INLINE static inline
#define SIMT_VALUE(type, ...) ((struct type){__VA_ARGS__})
#endif

/// A name of CUDA 12 that CUDA 13 removed: it works as it did, and the compiler says what to write instead.
#define SIMT_REMOVED(instead) __attribute__((deprecated("CUDA 13 removed it; write " instead)))
