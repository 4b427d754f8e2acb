// Which build of tile.cpp this machine can run, and the threads that run it.
#pragma once

#include <vector>

#include "job.hpp"

namespace mixkern {

// Fastest first; never empty.
std::vector<const Build *> usable_builds();

// Fills job.out. The result does not depend on the number of threads.
void run_matrix(const Job &job, const Build &build, int n_threads);

// Fills job.product.
void run_times(const Job &job, const Build &build, int n_threads);

}  // namespace mixkern
