// One call for the densities of rows under the Gaussian components of a mixture, as plain data.
//
//   ln rho_nk = constant_k + offset_nk - 1/2 |W_k (x_n - m_k)|^2
//
// A gap (NaN) is integrated out: it takes its expectation given the row's other values, and adds ln of the volume that it has.
#pragma once

#include "job.hpp"

namespace mixkern {

// The components with one vector lane for each, for rows with gaps: a row misses the same columns in all components.
struct Lanes {
    Index k;                   // rounded up to a multiple of kLaneGroup; those beyond have share zero
    const double *means;       // (d, k)
    const double *whiteners;   // (d, d, k) lower triangular
    const double *precisions;  // (d, d, k): W'W, lower triangle
    const double *constants;   // (k)
};
constexpr Index kLaneGroup = 8;  // a multiple of every build's number of lanes

struct DensityJob {
    Index n, d, k;
    const double *rows;  // (n, d)
    Index row_stride, column_stride;
    const double *means;      // (k, d)
    const double *whiteners;  // (k, d, d) lower triangular, or (k, d)
    const double *constants;  // (k)
    bool is_diagonal;
    const double *offsets;  // (n, k), or null
    const double *weights;  // (n), or null

    // Results for each row; null where they are not wanted.
    double *log_joint;    // (n, k): ln rho
    double *shares;       // (n, k): responsibilities, times the weight of the row
    double *log_density;  // (n): ln sum_k rho_nk
    double *filled;       // (n, d): gaps at their expectation under the mixture

    // Called when the first row with gaps is found; not for diagonal covariances.
    const Lanes &(*lanes)(void *context);
    void *context;
};

// Sums over rows, about the components' means, each row with its share; squares are those of the lower triangle.
struct Moments {
    double *counts;   // (k)
    double *sums;     // (k, d)
    double *squares;  // (k, d, d), or (k, d)
    double log_normaliser;  // sum of ln sum_k rho_nk, times the weight of the row
    // The same of rows with gaps, one lane for each component; the expected squares of gaps included.
    double *lane_counts;   // (lanes.k)
    double *lane_sums;     // (d, lanes.k)
    double *lane_squares;  // (d, d, lanes.k)
};

// What one build of density.cpp offers. `scratch` points to `scratch_bytes(job)` bytes, aligned to 64.
struct DensityBuild {
    std::size_t (*scratch_bytes)(const DensityJob &);
    // Computes rows `first` to `last`; adds to the moments, where these are wanted.
    void (*rows)(const DensityJob &, Index first, Index last, Moments *, char *scratch);
};

}  // namespace mixkern
