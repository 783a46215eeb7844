/// @file
/// Names that the headers of libcu++ share.
#pragma once

#include <chrono>
#include <utility>

namespace cuda {

/// Who takes part in what an object synchronises. Nothing here depends on it.
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
using ::std::move;
namespace chrono = ::std::chrono;
}  // namespace std

}  // namespace cuda
