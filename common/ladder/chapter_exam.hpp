#pragma once
// The exam of the one chapter that a program is compiled for: RUNGS_CHAPTER, set by the build.

#include <memory>

#include "rungs/exam.hpp"

#define RUNGS_TEXT_(a) #a
#define RUNGS_TEXT(a) RUNGS_TEXT_(a)

/// "01_reduction"
#define RUNGS_CHAPTER_NAME RUNGS_TEXT(RUNGS_CHAPTER)

namespace rungs {

inline std::unique_ptr<Exam> make_chapter_exam() { return std::unique_ptr<Exam>(rungs_new_exam()); }

}  // namespace rungs
