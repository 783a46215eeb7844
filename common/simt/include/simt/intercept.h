/// @file
/// Included in front of everything that check mode instruments (-include): the C library's functions that
/// mean something else in a kernel go to check/intercept.cpp from there. The rest of the program,
/// the runtime above all, keeps the C library's. Run mode sees what is declared here, and keeps them, too.
#pragma once

namespace std {
enum class align_val_t : __SIZE_TYPE__;
}

extern "C" {
void* simt_new(__SIZE_TYPE__ size);
void* simt_new_aligned(__SIZE_TYPE__ size, std::align_val_t alignment);
void simt_delete(void* memory) noexcept;
void simt_delete_aligned(void* memory, std::align_val_t alignment) noexcept;
/// For check mode: an object, or an array of them, is about to be made there; an object has
/// been made. See simt/stores.h.
void simt_place(void* place, __SIZE_TYPE__ size, bool array);
void simt_filled(const volatile void* place, __SIZE_TYPE__ size);
}

#if defined(SIMT_CHECK)
// Before anyone calls them; a macro would meet members of these names, too.
extern "C" {
void* malloc(__SIZE_TYPE__) noexcept __asm__("simt_malloc");
void free(void*) noexcept __asm__("simt_free");
void* memcpy(void*, const void*, __SIZE_TYPE__) noexcept __asm__("simt_memcpy");
void* memmove(void*, const void*, __SIZE_TYPE__) noexcept __asm__("simt_memmove");
void* memset(void*, int, __SIZE_TYPE__) noexcept __asm__("simt_memset");
}

// Inlined, and so these files' own. Renaming them as above makes g++ 12 crash where it looks for new without
// delete by their names.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Winline-new-delete"
#endif
#define SIMT_OWN __attribute__((always_inline)) inline
SIMT_OWN void* operator new(__SIZE_TYPE__ n) { return simt_new(n); }
SIMT_OWN void* operator new[](__SIZE_TYPE__ n) { return simt_new(n); }
SIMT_OWN void* operator new(__SIZE_TYPE__ n, std::align_val_t a) { return simt_new_aligned(n, a); }
SIMT_OWN void* operator new[](__SIZE_TYPE__ n, std::align_val_t a) { return simt_new_aligned(n, a); }
SIMT_OWN void operator delete(void* p) noexcept { simt_delete(p); }
SIMT_OWN void operator delete[](void* p) noexcept { simt_delete(p); }
SIMT_OWN void operator delete(void* p, __SIZE_TYPE__) noexcept { simt_delete(p); }
SIMT_OWN void operator delete[](void* p, __SIZE_TYPE__) noexcept { simt_delete(p); }
SIMT_OWN void operator delete(void* p, std::align_val_t a) noexcept { simt_delete_aligned(p, a); }
SIMT_OWN void operator delete[](void* p, std::align_val_t a) noexcept { simt_delete_aligned(p, a); }
SIMT_OWN void operator delete(void* p, __SIZE_TYPE__, std::align_val_t a) noexcept {
    simt_delete_aligned(p, a);
}
SIMT_OWN void operator delete[](void* p, __SIZE_TYPE__, std::align_val_t a) noexcept {
    simt_delete_aligned(p, a);
}
#undef SIMT_OWN
#elif defined(SIMT_LIKE_CHECK) && !defined(__clang__)
// Not built in (-fno-builtin-memcpy and so on), as in check mode, where constant expressions cannot call
// them; and as fast as if they were.
extern "C" {
#define SIMT_OWN extern __attribute__((always_inline, gnu_inline)) inline
SIMT_OWN void* memcpy(void* to, const void* from, __SIZE_TYPE__ n) noexcept {
    return __builtin_memcpy(to, from, n);
}
SIMT_OWN void* memmove(void* to, const void* from, __SIZE_TYPE__ n) noexcept {
    return __builtin_memmove(to, from, n);
}
SIMT_OWN void* memset(void* to, int value, __SIZE_TYPE__ n) noexcept {
    return __builtin_memset(to, value, n);
}
#undef SIMT_OWN
}
#endif
