#pragma once
/// @file
/// What the ladder is measured against: conjugate gradients from cuSPARSE and cuBLAS calls, and the kernels
/// of the course that this chapter grew out of.

#include "pcg.cuh"

namespace pcg::peers {

// All do exactly `limit` iterations of conjugate gradients and write no history: what the rungs do for the
// stop, these are spared. d and side as in Solve; the matrix needs less than 2^31 entries. Matrix, handles
// and vectors are made by the first call for a cube, and kept. One host thread.

FloatSolve library_cg;          ///< SpMV with a CSR matrix, dot products whose results the host waits for
DoubleSolve library_cg;         ///< the same in double
FloatSolve library_cg_device;   ///< the same, but scalars stay on the device
DoubleSolve library_cg_device;  ///< the same in double
FloatApply course_laplace;      ///< the course's operator, mended: bounds, no power in integers

// Neighbours from a table, less than 2^31 points. Made by the first call for a cube, and kept.
FloatApply table_laplace;  ///< what is outside is asked of the table
FloatApply slot_laplace;  ///< what is outside is one element behind the end of u, as it was in the first call

}  // namespace pcg::peers
