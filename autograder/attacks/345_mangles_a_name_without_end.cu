// Right, but defines a symbol whose mangled name holds 32,000 qualifiers, for whoever takes names apart by
// recursion.
//
//     verdicts = ["COMPILE_ERROR"]
//     defences = ["symbols"]
//     checks = false

// Right, but defines a symbol whose mangled name holds 32,000 qualifiers, for whoever takes names apart by
// recursion.

#define TWICE_(a, b) a##b
#define TWICE(a) TWICE_(a, a)
#define LETTERS TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK))))))))))
#define NAMED_(start, rest) start##rest
#define NAMED(start, rest) NAMED_(start, rest)
#define NAME NAMED(_ZN, LETTERS)

extern "C" int NAME;
int NAME = 1;

static void attack() {}

#include "honest.cuh"
