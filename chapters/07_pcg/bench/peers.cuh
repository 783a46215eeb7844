#pragma once
/// @file
/// What the ladder is measured against: conjugate gradients from cuSPARSE and cuBLAS calls, and the kernels
/// of the course that this chapter grew out of.

#include "pcg.cuh"

namespace pcg::peers {

// Conjugate gradients that write no history and never compute b - A x: what the rungs do for an honest stop,
// these are spared. With a tolerance of 0 they do exactly `limit` iterations. Those whose scalars are on the
// host stop at any other tolerance, and leave an outcome then. d and side as in Solve; the matrix needs less
// than 2^31 entries. Matrix, handles and vectors are made by the first call for a cube, and
// kept. One host thread.

FloatSolve library_cg;          ///< SpMV with a CSR matrix, dot products whose results the host waits for
DoubleSolve library_cg;         ///< the same in double
FloatSolve library_cg_device;   ///< the same, but scalars stay on the device
DoubleSolve library_cg_device;  ///< the same in double
FloatSolve
    course_cg;  ///< the course's kernels, fixed, one for each line of the algorithm; scalars on the host
FloatApply course_laplace;  ///< the course's operator, fixed: bounds, no power in integers

// Neighbours from a table, less than 2^31 points. Made by the first call for a cube, and kept.
FloatApply table_laplace;  ///< what is outside is asked of the table
FloatApply slot_laplace;   ///< what is outside is one element behind the end of u: u has it, and it is 0

}  // namespace pcg::peers
