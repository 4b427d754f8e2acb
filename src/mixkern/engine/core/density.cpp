// Densities, responsibilities and moments of some rows. Compiled once per instruction set, under MIXKERN_BUILD.
//
//   pack       rows without gaps, some hundred at a time, one feature after the other: a vector holds one feature of several rows
//   log_rho    differences from each mean, whitened; never the expanded square, which loses digits
//   normalise  responsibilities, by the largest ln rho of each row
//   moments    for each component, sums of the differences and of their products
//
// Rows with gaps come one by one, with a vector over components: all of them have the same gaps to integrate out. As in tile.cpp,
// nothing is shared with the rest of the module.
#include "density_job.hpp"

#include "arena.hpp"
#include "simd.hpp"
#include "whiten.hpp"

namespace mixkern {
namespace {

constexpr Index kBlock = 512;  // rows that are packed together
constexpr double kLog2Pi = 0x1.d67f1c864beb5p+0;
static_assert(kBlock % kWidth == 0 && kLaneGroup % kLanes == 0, "blocks and lanes are whole vectors");

struct Scratch {
    Index *row;         // (kBlock) where each packed row comes from
    Index *missing;     // (d) columns that a row misses
    Index *observed;    // (d) its other columns
    double *x;          // (kBlock / kWidth, d, kWidth)
    double *deviation;  // (kBlock / kWidth, d, kWidth)
    double *weighted;   // (kBlock / kWidth, d, kWidth) times the shares; whitened coordinates before
    double *is_gap;     // (kBlock / kWidth, d, kWidth) one or zero; diagonal covariances only
    double *log_rho;    // (k, kBlock), then shares
    double *normaliser; // (kBlock) ln sum_k rho
    // Rows with gaps, one lane for each component.
    double *lane_log_rho;    // (lanes)
    double *lane_deviation;  // (d, lanes)
    double *lane_inverse;    // (d, d, lanes) covariance of the gaps, lower triangle
    double *z;               // (d, kLanes)
    double *factor;          // (d, d, kLanes)
    double *solution;        // (d, kLanes)
};

Scratch lay_out(const DensityJob &job, Arena &arena) {
    const Index d = job.d, lanes = round_up(job.k, kLaneGroup), d_matrix = job.is_diagonal ? 0 : d;
    Scratch s;
    s.row = arena.take<Index>(kBlock);
    s.missing = arena.take<Index>(d);
    s.observed = arena.take<Index>(d);
    s.x = arena.take<double>(kBlock * d);
    s.deviation = arena.take<double>(kBlock * d);
    s.weighted = arena.take<double>(kBlock * d);
    s.is_gap = arena.take<double>(job.is_diagonal ? kBlock * d : 0);
    s.log_rho = arena.take<double>(kBlock * job.k);
    s.normaliser = arena.take<double>(kBlock);
    s.lane_log_rho = arena.take<double>(lanes);
    s.lane_deviation = arena.take<double>(d_matrix * lanes);
    s.lane_inverse = arena.take<double>(d_matrix * d_matrix * lanes);
    s.z = arena.take<double>(d_matrix * kLanes);
    s.factor = arena.take<double>(d_matrix * d_matrix * kLanes);
    s.solution = arena.take<double>(d_matrix * kLanes);
    return s;
}

std::size_t scratch_bytes(const DensityJob &job) {
    Arena arena{0};
    lay_out(job, arena);
    return std::size_t(arena.next);
}

inline double value_at(const DensityJob &job, Index row, Index column) {
    return job.rows[row * job.row_stride + column * job.column_stride];
}

inline Index place(Index t, Index c, Index d) { return (t / kWidth * d + c) * kWidth + t % kWidth; }

// A square that overflowed on the way, or lost its sign, is infinitely far.
inline Vector infinite_if_nan(Vector v) { return v == v ? v : spread(__builtin_inf()); }

bool has_gap(const DensityJob &job, Index row) {
    bool found = false;
    for (Index c = 0; c < job.d; ++c) {
        const double x = value_at(job, row, c);
        found |= x != x;
    }
    return found;
}

// Vectors beyond the last row are filled with zeros.
void pad(const DensityJob &job, const Scratch &s, Index count) {
    for (Index t = count; t < round_up(count, kWidth); ++t)
        for (Index c = 0; c < job.d; ++c) {
            s.x[place(t, c, job.d)] = 0;
            if (job.is_diagonal) s.is_gap[place(t, c, job.d)] = 0;
        }
}

// ln rho of packed rows under one component, and their differences from its mean.
template <bool kHasGaps>
void add_component(const DensityJob &job, const Scratch &s, Index component, Index count) {
    const Index d = job.d;
    const double *mean = job.means + component * d, *w = job.whiteners + component * (job.is_diagonal ? d : d * d);
    double *log_rho = s.log_rho + component * kBlock;
    for (Index t = 0; t < count; t += kWidth) {
        const double *x = s.x + t * d, *is_gap = s.is_gap + t * d;
        double *deviation = s.deviation, *z = s.weighted;
        Vector constant[kVectors], sum[kVectors];
        for (int v = 0; v < kVectors; ++v) constant[v] = spread(job.constants[component]), sum[v] = spread(0.0);
        for (Index c = 0; c < d; ++c) {
            const Vector m = spread(mean[c]);
            const Vector volume = spread(kHasGaps ? 0.5 * kLog2Pi - __builtin_log(w[c]) : 0.0);
            for (int v = 0; v < kVectors; ++v) {
                Vector difference = load(x + c * kWidth + v * kLanes) - m;
                if constexpr (kHasGaps) {
                    const Vector gap = load(is_gap + c * kWidth + v * kLanes);
                    difference = gap == spread(0.0) ? difference : spread(0.0);
                    constant[v] = fma(gap, volume, constant[v]);
                }
                store(deviation + c * kWidth + v * kLanes, difference);
            }
        }
        if (job.is_diagonal)
            whiten_diagonal(d, w, deviation, z);
        else
            whiten_full(d, w, deviation, z);
        for (Index c = 0; c < d; ++c)
            for (int v = 0; v < kVectors; ++v) {
                const Vector white = load(z + c * kWidth + v * kLanes);
                sum[v] = fma(white, white, sum[v]);
            }
        for (int v = 0; v < kVectors; ++v)
            store(log_rho + t + v * kLanes, fma(spread(-0.5), infinite_if_nan(sum[v]), constant[v]));
    }
}

void add_offsets(const DensityJob &job, const Scratch &s, Index count) {
    for (Index t = 0; t < count; ++t) {
        const double *offset = job.offsets + s.row[t] * job.k;
        for (Index j = 0; j < job.k; ++j) s.log_rho[j * kBlock + t] += offset[j];
    }
}

void write_joint(const DensityJob &job, const Scratch &s, Index count) {
    for (Index t = 0; t < count; ++t)
        for (Index j = 0; j < job.k; ++j) job.log_joint[s.row[t] * job.k + j] = s.log_rho[j * kBlock + t];
}

// From ln rho to responsibilities, times the weights; ln sum_k rho into s.normaliser.
void normalise(const DensityJob &job, const Scratch &s, Index count) {
    for (Index t = 0; t < count; t += kLanes) {
        double *log_rho = s.log_rho + t;
        Vector largest = load(log_rho), sum = spread(0.0);
        for (Index j = 1; j < job.k; ++j) largest = larger(load(log_rho + j * kBlock), largest);
        for (Index j = 0; j < job.k; ++j) {
            const Vector share = exp_negative(load(log_rho + j * kBlock) - largest);
            store(log_rho + j * kBlock, share);
            sum = sum + share;
        }
        store(s.normaliser + t, largest + log_positive(sum));
        Vector factor = spread(1.0) / sum;
        if (job.weights) {
            double weight[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) weight[lane] = t + lane < count ? job.weights[s.row[t + lane]] : 0.0;
            factor = factor * load(weight);
        }
        for (Index j = 0; j < job.k; ++j) store(log_rho + j * kBlock, load(log_rho + j * kBlock) * factor);
    }
    for (Index t = count; t < round_up(count, kWidth); ++t)
        for (Index j = 0; j < job.k; ++j) s.log_rho[j * kBlock + t] = 0;
}

void write_rows(const DensityJob &job, const Scratch &s, Index count) {
    if (job.shares)
        for (Index t = 0; t < count; ++t)
            for (Index j = 0; j < job.k; ++j) job.shares[s.row[t] * job.k + j] = s.log_rho[j * kBlock + t];
    if (job.log_density)
        for (Index t = 0; t < count; ++t) job.log_density[s.row[t]] = s.normaliser[t];
    if (!job.filled) return;
    for (Index t = 0; t < count; ++t)
        for (Index c = 0; c < job.d; ++c) {
            double value = s.x[place(t, c, job.d)];
            if (job.is_diagonal && s.is_gap[place(t, c, job.d)] != 0) {  // columns are independent: the mean of the means
                value = 0;
                for (Index j = 0; j < job.k; ++j) value += s.log_rho[j * kBlock + t] * job.means[j * job.d + c];
            }
            job.filled[s.row[t] * job.d + c] = value;
        }
}

// sum_n weighted_n[i] deviation_n[j] for kI x kJ pairs of features, from (i, j) on.
template <int kI, int kJ>
void add_products(const Scratch &s, Index d, Index count, Index i, Index j, double *squares) {
    Vector sum[kI][kJ];
    for (int a = 0; a < kI; ++a)
        for (int b = 0; b < kJ; ++b) sum[a][b] = spread(0.0);
    for (Index t = 0; t < count; t += kWidth) {
        const double *weighted = s.weighted + t * d + i * kWidth, *deviation = s.deviation + t * d + j * kWidth;
        for (int v = 0; v < kVectors; ++v) {
            Vector second[kJ];
            for (int b = 0; b < kJ; ++b) second[b] = load(deviation + b * kWidth + v * kLanes);
            for (int a = 0; a < kI; ++a) {
                const Vector first = load(weighted + a * kWidth + v * kLanes);
                for (int b = 0; b < kJ; ++b) sum[a][b] = fma(first, second[b], sum[a][b]);
            }
        }
    }
    for (int a = 0; a < kI; ++a)
        for (int b = 0; b < kJ; ++b)
            if (j + b <= i + a) squares[(i + a) * d + j + b] += sum_of(sum[a][b]);
}

template <int kI>
void add_products_of(const Scratch &s, Index d, Index count, Index i, Index j, Index columns, double *squares) {
    switch (columns) {
        case 1: return add_products<kI, 1>(s, d, count, i, j, squares);
        case 2: return add_products<kI, 2>(s, d, count, i, j, squares);
        case 3: return add_products<kI, 3>(s, d, count, i, j, squares);
        default: return add_products<kI, 4>(s, d, count, i, j, squares);
    }
}

void add_matrix(const Scratch &s, Index d, Index count, double *squares) {
    constexpr Index kTile = 4;  // 4 x 4 sums stay in registers
    for (Index i = 0; i < d; i += kTile)
        for (Index j = 0; j <= i; j += kTile) {
            const Index columns = d - j < kTile ? d - j : kTile;
            switch (d - i) {
                case 1: add_products_of<1>(s, d, count, i, j, columns, squares); break;
                case 2: add_products_of<2>(s, d, count, i, j, columns, squares); break;
                case 3: add_products_of<3>(s, d, count, i, j, columns, squares); break;
                default: add_products_of<4>(s, d, count, i, j, columns, squares);
            }
        }
}

// Squares of independent columns; a gap has the variance of the component.
void add_diagonal(const DensityJob &job, const Scratch &s, Index component, Index count, bool has_gaps, double *squares) {
    const double *w = job.whiteners + component * job.d, *share = s.log_rho + component * kBlock;
    for (Index c = 0; c < job.d; ++c) {
        Vector sum = spread(0.0), gaps = spread(0.0);
        for (Index t = 0; t < count; t += kWidth)
            for (int v = 0; v < kVectors; ++v) {
                const Index at = t * job.d + c * kWidth + v * kLanes;
                sum = fma(load(s.weighted + at), load(s.deviation + at), sum);
                if (has_gaps) gaps = fma(load(share + t + v * kLanes), load(s.is_gap + at), gaps);
            }
        squares[c] += sum_of(sum) + (has_gaps ? sum_of(gaps) / (w[c] * w[c]) : 0.0);
    }
}

void add_moments(const DensityJob &job, const Scratch &s, Index count, bool has_gaps, Moments &moments) {
    const Index d = job.d;
    for (Index j = 0; j < job.k; ++j) {
        const double *share = s.log_rho + j * kBlock, *mean = job.means + j * d;
        Vector total = spread(0.0);
        for (Index t = 0; t < count; t += kLanes) total = total + load(share + t);
        const double count_j = sum_of(total);
        if (count_j == 0) continue;  // all shares have underflowed
        moments.counts[j] += count_j;
        for (Index c = 0; c < d; ++c) {
            const Vector m = spread(mean[c]);
            Vector sum = spread(0.0);
            for (Index t = 0; t < count; t += kWidth)
                for (int v = 0; v < kVectors; ++v) {
                    const Index at = t * d + c * kWidth + v * kLanes;
                    Vector deviation = load(s.x + at) - m;
                    if (has_gaps) deviation = load(s.is_gap + at) == spread(0.0) ? deviation : spread(0.0);
                    const Vector weighted = deviation * load(share + t + v * kLanes);
                    store(s.deviation + at, deviation);
                    store(s.weighted + at, weighted);
                    sum = sum + weighted;
                }
            moments.sums[j * d + c] += sum_of(sum);
        }
        if (job.is_diagonal)
            add_diagonal(job, s, j, count, has_gaps, moments.squares + j * d);
        else
            add_matrix(s, d, count, moments.squares + j * d * d);
    }
}

void packed(const DensityJob &job, const Scratch &s, Index count, bool has_gaps, Moments *moments) {
    pad(job, s, count);
    for (Index j = 0; j < job.k; ++j) has_gaps ? add_component<true>(job, s, j, count) : add_component<false>(job, s, j, count);
    if (job.offsets) add_offsets(job, s, count);
    if (job.log_joint) write_joint(job, s, count);
    if (!job.shares && !job.log_density && !job.filled && !moments) return;
    normalise(job, s, count);
    write_rows(job, s, count);
    if (!moments) return;
    for (Index t = 0; t < count; ++t) moments->log_normaliser += s.normaliser[t] * (job.weights ? job.weights[s.row[t]] : 1.0);
    add_moments(job, s, count, has_gaps, *moments);
}

// Lambda_mm = L L' for the missing columns m, in place of the lower triangle of s.factor, with the reciprocals of the diagonal; returns
// ln |L|.
inline Vector factorise(const Scratch &s, Index m) {
    Product determinant;
    for (Index a = 0; a < m; ++a)
        for (Index b = 0; b <= a; ++b) {
            Vector sum = load(s.factor + (a * m + b) * kLanes);
            for (Index c = 0; c < b; ++c) sum = sum - load(s.factor + (a * m + c) * kLanes) * load(s.factor + (b * m + c) * kLanes);
            if (a == b) {
                const Vector root = sqrt_exact(larger(sum, spread(1e-300)));
                determinant.multiply(root);
                sum = spread(1.0) / root;
            } else {
                sum = sum * load(s.factor + (b * m + b) * kLanes);
            }
            store(s.factor + (a * m + b) * kLanes, sum);
        }
    return determinant.log();
}

// Solves L L' y = s.solution, in place.
inline void solve(const Scratch &s, Index m) {
    for (Index a = 0; a < m; ++a) {
        Vector sum = load(s.solution + a * kLanes);
        for (Index b = 0; b < a; ++b) sum = sum - load(s.factor + (a * m + b) * kLanes) * load(s.solution + b * kLanes);
        store(s.solution + a * kLanes, sum * load(s.factor + (a * m + a) * kLanes));
    }
    for (Index a = m - 1; a >= 0; --a) {
        Vector sum = load(s.solution + a * kLanes);
        for (Index b = a + 1; b < m; ++b) sum = sum - load(s.factor + (b * m + a) * kLanes) * load(s.solution + b * kLanes);
        store(s.solution + a * kLanes, sum * load(s.factor + (a * m + a) * kLanes));
    }
}

// Lambda_mm^-1 = L^-T L^-1, the covariance of the gaps given the observed columns, into s.lane_inverse; overwrites s.factor by L^-1.
void invert(const Scratch &s, Index m, Index n_lanes, Index first) {
    for (Index c = 0; c < m; ++c)
        for (Index a = c + 1; a < m; ++a) {
            Vector sum = spread(0.0);
            for (Index b = c; b < a; ++b) sum = sum - load(s.factor + (a * m + b) * kLanes) * load(s.factor + (b * m + c) * kLanes);
            // Column c of L is read up to row a - 1 only, so L^-1 can take its place from row a on.
            store(s.factor + (a * m + c) * kLanes, sum * load(s.factor + (a * m + a) * kLanes));
        }
    for (Index a = 0; a < m; ++a)
        for (Index b = 0; b <= a; ++b) {
            Vector sum = spread(0.0);
            for (Index c = a; c < m; ++c) sum = fma(load(s.factor + (c * m + a) * kLanes), load(s.factor + (c * m + b) * kLanes), sum);
            store(s.lane_inverse + (a * m + b) * n_lanes + first, sum);
        }
}

// One row with gaps under kLanes components from `first` on: ln rho, and the differences with gaps at their expectation
// -Lambda_mm^-1 Lambda_mo (x - m)_o given the observed columns o.
void add_lanes(const DensityJob &job, const Scratch &s, const Lanes &lanes, Index row, Index n_missing, Index first) {
    const Index d = job.d;
    const auto whitener = [&](Index i, Index j) { return load(lanes.whiteners + (i * d + j) * lanes.k + first); };
    const auto deviation = [&](Index i) { return s.lane_deviation + i * lanes.k + first; };
    for (Index i = 0; i < d; ++i) {
        const double x = value_at(job, row, i);
        store(deviation(i), x == x ? spread(x) - load(lanes.means + i * lanes.k + first) : spread(0.0));
    }
    for (Index i = 0; i < d; ++i) {
        Vector sum = spread(0.0);
        for (Index o = 0; o < d - n_missing && s.observed[o] <= i; ++o)
            sum = fma(whitener(i, s.observed[o]), load(deviation(s.observed[o])), sum);
        store(s.z + i * kLanes, sum);
    }
    for (Index a = 0; a < n_missing; ++a) {
        Vector sum = spread(0.0);
        for (Index i = s.missing[a]; i < d; ++i) sum = sum - whitener(i, s.missing[a]) * load(s.z + i * kLanes);
        store(s.solution + a * kLanes, sum);
        for (Index b = 0; b <= a; ++b)
            store(s.factor + (a * n_missing + b) * kLanes, load(lanes.precisions + (s.missing[a] * d + s.missing[b]) * lanes.k + first));
    }
    const Vector log_factor = factorise(s, n_missing);
    solve(s, n_missing);
    for (Index a = 0; a < n_missing; ++a) {
        const Vector expected = load(s.solution + a * kLanes);
        store(deviation(s.missing[a]), expected);
        for (Index i = s.missing[a]; i < d; ++i)
            store(s.z + i * kLanes, fma(whitener(i, s.missing[a]), expected, load(s.z + i * kLanes)));
    }
    Vector sq_distance = spread(0.0);
    for (Index i = 0; i < d; ++i) sq_distance = fma(load(s.z + i * kLanes), load(s.z + i * kLanes), sq_distance);
    const Vector constant = load(lanes.constants + first) + spread(0.5 * kLog2Pi * double(n_missing)) - log_factor;
    store(s.lane_log_rho + first, fma(spread(-0.5), infinite_if_nan(sq_distance), constant));
}

// Responsibilities of one row, times its weight, in place of s.lane_log_rho; returns ln sum_k rho.
double normalise_lanes(const DensityJob &job, const Scratch &s, const Lanes &lanes, double weight) {
    double *log_rho = s.lane_log_rho;
    double largest = log_rho[0];
    for (Index j = 1; j < job.k; ++j) largest = log_rho[j] > largest ? log_rho[j] : largest;
    Vector sum = spread(0.0);
    for (Index g = 0; g < lanes.k; g += kLanes) {
        const Vector share = exp_negative(load(log_rho + g) - spread(largest));
        store(log_rho + g, share);
        sum = sum + share;
    }
    const double total = sum_of(sum);
    for (Index g = 0; g < lanes.k; g += kLanes) store(log_rho + g, load(log_rho + g) * spread(weight / total));
    return largest + __builtin_log(total);
}

void add_lane_moments(const DensityJob &job, const Scratch &s, const Lanes &lanes, Index n_missing, Moments &moments) {
    const Index d = job.d;
    for (Index g = 0; g < lanes.k; g += kLanes) {
        const Vector share = load(s.lane_log_rho + g);
        if (largest_of(share) == 0) continue;
        store(moments.lane_counts + g, load(moments.lane_counts + g) + share);
        for (Index i = 0; i < d; ++i) {
            const Vector weighted = share * load(s.lane_deviation + i * lanes.k + g);
            double *sum = moments.lane_sums + i * lanes.k + g;
            store(sum, load(sum) + weighted);
            for (Index j = 0; j <= i; ++j) {
                double *square = moments.lane_squares + (i * d + j) * lanes.k + g;
                store(square, fma(weighted, load(s.lane_deviation + j * lanes.k + g), load(square)));
            }
        }
        for (Index a = 0; a < n_missing; ++a)
            for (Index b = 0; b <= a; ++b) {
                double *square = moments.lane_squares + (s.missing[a] * d + s.missing[b]) * lanes.k + g;
                store(square, fma(share, load(s.lane_inverse + (a * n_missing + b) * lanes.k + g), load(square)));
            }
    }
}

void row_with_gaps(const DensityJob &job, const Scratch &s, Index row, Moments *moments) {
    const Lanes &lanes = job.lanes(job.context);
    const Index d = job.d;
    Index n_missing = 0;
    for (Index c = 0; c < d; ++c) {
        const double x = value_at(job, row, c);
        if (x != x)
            s.missing[n_missing++] = c;
        else
            s.observed[c - n_missing] = c;
    }
    for (Index g = 0; g < lanes.k; g += kLanes) {
        add_lanes(job, s, lanes, row, n_missing, g);
        if (moments) invert(s, n_missing, lanes.k, g);
    }
    if (job.offsets)
        for (Index j = 0; j < job.k; ++j) s.lane_log_rho[j] += job.offsets[row * job.k + j];
    if (job.log_joint)
        for (Index j = 0; j < job.k; ++j) job.log_joint[row * job.k + j] = s.lane_log_rho[j];
    const double weight = job.weights ? job.weights[row] : 1.0;
    const double normaliser = normalise_lanes(job, s, lanes, weight);
    if (job.log_density) job.log_density[row] = normaliser;
    if (job.shares)
        for (Index j = 0; j < job.k; ++j) job.shares[row * job.k + j] = s.lane_log_rho[j];
    if (job.filled) {
        for (Index c = 0; c < d; ++c) job.filled[row * d + c] = value_at(job, row, c);
        for (Index a = 0; a < n_missing; ++a) {
            const Index c = s.missing[a];
            Vector sum = spread(0.0);
            for (Index g = 0; g < lanes.k; g += kLanes)
                sum = fma(load(s.lane_log_rho + g), load(lanes.means + c * lanes.k + g) + load(s.lane_deviation + c * lanes.k + g), sum);
            job.filled[row * d + c] = sum_of(sum);
        }
    }
    if (!moments) return;
    moments->log_normaliser += weight * normaliser;
    add_lane_moments(job, s, lanes, n_missing, *moments);
}

void rows(const DensityJob &job, Index first, Index last, Moments *moments, char *memory) {
    Arena arena{reinterpret_cast<std::uintptr_t>(memory)};
    const Scratch s = lay_out(job, arena);
    Index count = 0;
    bool has_gaps = false;
    for (Index row = first; row < last; ++row) {
        const bool is_incomplete = has_gap(job, row);
        if (is_incomplete && !job.is_diagonal) {
            row_with_gaps(job, s, row, moments);
            continue;
        }
        for (Index c = 0; c < job.d; ++c) {
            const double x = value_at(job, row, c);
            s.x[place(count, c, job.d)] = x;
            if (job.is_diagonal) s.is_gap[place(count, c, job.d)] = x != x ? 1.0 : 0.0;
        }
        has_gaps |= is_incomplete;
        s.row[count++] = row;
        if (count == kBlock) {
            packed(job, s, count, has_gaps, moments);
            count = 0, has_gaps = false;
        }
    }
    if (count) packed(job, s, count, has_gaps, moments);
}

}  // namespace

#define MIXKERN_GLUE_OF(a, b) a##b
#define MIXKERN_GLUE(a, b) MIXKERN_GLUE_OF(a, b)

extern const DensityBuild MIXKERN_GLUE(density_, MIXKERN_BUILD);
const DensityBuild MIXKERN_GLUE(density_, MIXKERN_BUILD) = {scratch_bytes, rows};

}  // namespace mixkern
