// Whitened coordinates z = W x of a block of kWidth rows, feature by feature: x and z are (d, kWidth).
#pragma once

#include "job.hpp"
#include "simd.hpp"

namespace mixkern {
namespace {

constexpr Index kWidth = Index(kLanes) * kVectors;

inline void whiten_diagonal(Index d, const double *w, const double *x, double *z) {
    for (Index c = 0; c < d; ++c)
        for (int v = 0; v < kVectors; ++v) store(z + c * kWidth + v * kLanes, spread(w[c]) * load(x + c * kWidth + v * kLanes));
}

// Several coordinates at a time, so that each load serves all of them. Each is summed from the first feature to the last.
inline void whiten_full(Index d, const double *w, const double *x, double *z) {
    constexpr Index kAtOnce = kRows;
    for (Index c = 0; c < d; c += kAtOnce) {
        Vector sum[kAtOnce][kVectors];
        for (Index r = 0; r < kAtOnce; ++r)
            for (int v = 0; v < kVectors; ++v) sum[r][v] = spread(0.0);
        const Index rows = d - c < kAtOnce ? d - c : kAtOnce;
        const double *row[kAtOnce];
        for (Index r = 0; r < kAtOnce; ++r) row[r] = w + (c + (r < rows ? r : 0)) * d;
        for (Index i = 0; i < c; ++i)
            for (int v = 0; v < kVectors; ++v) {
                const Vector value = load(x + i * kWidth + v * kLanes);
                for (Index r = 0; r < kAtOnce; ++r) sum[r][v] = fma(spread(row[r][i]), value, sum[r][v]);
            }
        for (Index r = 0; r < kAtOnce; ++r) {
            if (r >= rows) break;
            for (int v = 0; v < kVectors; ++v) {
                for (Index i = c; i <= c + r; ++i) sum[r][v] = fma(spread(row[r][i]), load(x + i * kWidth + v * kLanes), sum[r][v]);
                store(z + (c + r) * kWidth + v * kLanes, sum[r][v]);
            }
        }
    }
}

}  // namespace
}  // namespace mixkern
