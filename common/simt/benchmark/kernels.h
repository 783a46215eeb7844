/// @file
/// Launchers of the benchmark's kernels; `n` elements each.
#pragma once

/// Sums of 256 neighbours by a tree in shared memory: nine barriers a thread.
void tree_sum(const float* in, float* out, int n);
/// Sums of 32 neighbours by shuffles: five a thread.
void warp_sum(const float* in, float* out, int n);
void vector_add(const float* a, const float* b, float* c, int n);
/// Forty dependent multiply-adds an element.
void iterate(const float* in, float* out, int n);
/// `n` blocks of one thread.
void tiny_blocks(float* out, int n);
