#pragma once
// toml++. Its release 3.3 asserts what a file need not keep to, such as that a time begins with a digit: that
// is an error of the file's instead of the program's end. (simt/model/model.cpp says the same.)

#include <stdexcept>

namespace rungs {

[[noreturn]] inline void toml_is_cut_off() {
    throw std::logic_error("a value is cut off, such as a date with a T and no time");
}

}  // namespace rungs

#define TOML_ASSERT(condition) ((condition) ? void() : ::rungs::toml_is_cut_off())
#include <toml++/toml.h>
