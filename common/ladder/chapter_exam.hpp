#pragma once
// The exam of the one chapter that a program is compiled for: RUNGS_CHAPTER, set by the build.

#include <memory>

#include "rungs/exam.hpp"

#define RUNGS_JOIN_(a, b) a##b
#define RUNGS_JOIN(a, b) RUNGS_JOIN_(a, b)
#define RUNGS_TEXT_(a) #a
#define RUNGS_TEXT(a) RUNGS_TEXT_(a)

/// "01_reduction"
#define RUNGS_CHAPTER_NAME RUNGS_TEXT(RUNGS_CHAPTER)

std::unique_ptr<rungs::Exam> RUNGS_JOIN(make_exam_, RUNGS_CHAPTER)();

namespace rungs {

inline std::unique_ptr<Exam> make_chapter_exam() { return RUNGS_JOIN(make_exam_, RUNGS_CHAPTER)(); }

}  // namespace rungs
