/// @file
/// `cuda::std` of libcu++ is the C++ library's, which threads of the CPU backend call as any other code.
#pragma once

namespace std {}

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
