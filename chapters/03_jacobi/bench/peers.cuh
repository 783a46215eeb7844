#pragma once
/// @file
/// What the ladder is measured against.

#include "jacobi.cuh"

namespace jacobi::peers {

/// Rung 01 reading through a one-dimensional texture object, as rung 03 does through a two-dimensional one.
Solve texture_linear;

/// The solver as lectures write it: a block of 16 times 16 points adds up its squares by a tree in shared
/// memory, and after every sweep the host copies one float a block, adds them up and decides. Repaired where
/// the listings go wrong (see the lesson): any nx and ny, one slot of the sums for every block.
Solve lecture_global;

/// The same, reading through a one-dimensional texture object.
Solve lecture_texture;

}  // namespace jacobi::peers
