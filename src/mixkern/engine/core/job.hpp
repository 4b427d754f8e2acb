// One call of the engine, as plain data: what the module hands to the driver, and the driver to a build of tile.cpp.
//
// Letters as everywhere in mixkern: n rows of A, m rows of B, d continuous features, e categorical ones, k components.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mixkern {

using Index = std::ptrdiff_t;

// Rows of the sorted order that keep the same components; a multiple of every build's kWidth, and a divisor of every tile.
constexpr Index kGroup = 32;

// The rows of one side. Row t of the sorted order is row order[t] of the arrays.
struct Side {
    const double *rows;         // (n_rows, d)
    const double *shares;       // (n_rows, k), or (k) when share_stride is 0
    const std::int32_t *codes;  // (n_rows, e), or null
    const Index *order;         // (n_rows), or null for the order as it is
    const std::uint8_t *keep;   // (groups, k): components that may not be skipped in a group of rows, or null for all
    Index n_rows;
    Index share_stride;
};

struct Job {
    Side a, b;  // the same rows where is_symmetric
    bool is_symmetric;
    Index d, e, k;

    const double *whiteners;  // (k, d, d) lower triangular, or (k, d)
    const double *norms;      // (k) Frobenius norms of the whiteners
    const double *centre;     // (d)
    const double *shifts;     // (k, d) centre of each component in its whitened coordinates; null unless is_single
    bool is_diagonal;

    bool is_kernel;  // exp(-(per_sq_distance D^2 + per_sq_count C^2)) instead of D
    double per_sq_distance, per_sq_count;

    void *out;  // (n, m), rows out_stride apart; unused by times
    Index out_stride;
    bool is_float32;  // the type of out
    bool is_single;   // compute in floats
    bool is_streamed;  // too large to be found in a cache afterwards

    const double *values;  // (q, m) in the sorted order of B, for times
    double *product;       // (n, q)
    Index q;

    Index tile;   // rows of a tile, a multiple of 32
    Index chunk;  // components whitened at a time
};

// What one build of tile.cpp offers. `scratch` points to `scratch_bytes(job)` bytes, aligned to 64.
struct Build {
    std::size_t (*scratch_bytes)(const Job &);
    // Computes one tile of the result and writes it, and its mirror image where is_symmetric. Columns stay in sorted order.
    void (*block)(const Job &, Index tile_a, Index tile_b, char *scratch);
    // Computes all rows of one tile of A times the values.
    void (*times)(const Job &, Index tile_a, char *scratch);
};

}  // namespace mixkern
