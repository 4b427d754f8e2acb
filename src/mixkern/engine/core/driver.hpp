// Which builds of tile.cpp and density.cpp this machine can run, and the threads that run them.
#pragma once

#include <vector>

#include "density_job.hpp"
#include "job.hpp"

namespace mixkern {

// The code of one instruction set.
struct Builds {
    const char *name;
    const Build *tile;
    const DensityBuild *density;
};

// Fastest first; never empty.
std::vector<Builds> usable_builds();

// Called by the thread of the caller several times a second; computations end early once it returns true. Null never stops them.
extern bool (*should_stop)();

// Fills job.out; results in float32 are computed in floats. The result does not depend on the number of threads. Returns whether it was
// finished, as the other two do.
bool run_matrix(Job job, const Build &build, int n_threads);

// Fills job.product.
bool run_times(Job job, const Build &build, int n_threads);

// Fills the results of the job for each row, and the moments where these are wanted: both triangles, all rows. The result does not
// depend on the number of threads.
bool run_density(DensityJob job, const DensityBuild &build, Moments *moments, int n_threads);

}  // namespace mixkern
