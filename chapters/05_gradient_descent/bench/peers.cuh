#pragma once
/// @file
/// The libraries that the ladder is measured against: the same iterations, made of cuBLAS calls.

#include "gradient_descent.cuh"

namespace gradient_descent::peers {

// All do exactly `limit` iterations, look at no residual and write no history: what the rungs do for the
// stop, these are spared. Scalars stay on the device. A has to be symmetric, since cuBLAS counts columns
// first. One host thread: handle and vectors are kept from call to call.

Solve cublas_jacobi;        ///< Sgemv for b - A x, Ssbmv for D^-1, Sdot for ||r||
Solve cublas_descent_gemv;  ///< Sgemv, two Sdot, one division, two Saxpy; b - A x
                            ///< again every renew_every iterations
Solve cublas_descent_symv;  ///< the same with Ssymv, which reads half of A

}  // namespace gradient_descent::peers
