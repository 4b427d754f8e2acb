// Densities of rows under Gaussian components, and the sums of an M-step, on a GPU.
//
// Compiled at run time for
//   REAL       float or double: the type of rows and of all arithmetic but long sums
//   COLUMNS    columns of a row, d
//   COMPONENTS components whose sums a block of threads computes, of moments_of_rows

constexpr int ROWS = 128; // of a block of threads
constexpr int TRIANGLE = COLUMNS * (COLUMNS + 1) / 2;

struct Densities {
    const REAL* rows;  // (n, d); NaN is a gap
    long long n, pitch; // rows, and elements between the components of the results
    int k;
    const REAL* means;     // (k, d)
    const REAL* whiteners; // (k, d (d + 1) / 2) lower triangles, line by line, or (k, d)
    int is_diagonal;
    const REAL* constants; // (k,)
    const REAL* offsets;   // (k, n), or null
    const REAL* weights;   // (n,), or null
};

// Arguments of a launch: NVRTC's callers pass pointers and long long.
#define DENSITIES_PARAMETERS                                                                                                \
    const REAL *rows, long long n, long long pitch, long long k, const REAL *means, const REAL *whiteners,                  \
        long long is_diagonal, const REAL *constants, const REAL *offsets, const REAL *weights
#define DENSITIES {rows, n, pitch, (int)k, means, whiteners, (int)is_diagonal, constants, offsets, weights}

__device__ __forceinline__ REAL infinity() { return (REAL)__longlong_as_double(0x7ff0000000000000LL); }
__device__ __forceinline__ REAL not_a_number() { return (REAL)__longlong_as_double(0x7ff8000000000000LL); }
__device__ __forceinline__ float exponential(float x) { return __expf(x); }
__device__ __forceinline__ double exponential(double x) { return exp(x); }
__device__ __forceinline__ float logarithm(float x) { return logf(x); }
__device__ __forceinline__ double logarithm(double x) { return log(x); }

// ln rho = constant + offset - |W (x - m)|^2 / 2 of every component, its normalised exponential times the weight of the row,
// and the logarithm of the sum. Rows with gaps are counted and left out: their shares are zero, their log density is NaN.
// Rows whose density is zero, or has overflowed, are counted, too: flags has both numbers.
extern "C" __global__ void __launch_bounds__(ROWS)
    densities_of_rows(DENSITIES_PARAMETERS, long long at_a_time, REAL* log_joint, REAL* shares, REAL* log_density, int* flags) {
    const Densities in = DENSITIES;
    extern __shared__ __align__(16) char memory[];
    REAL* parameters = reinterpret_cast<REAL*>(memory);
    const int size = in.is_diagonal ? COLUMNS : TRIANGLE, each = COLUMNS + size;
    const long long row = (long long)blockIdx.x * ROWS + threadIdx.x;
    const bool is_there = row < in.n;
    REAL x[COLUMNS];
    bool has_gap = false;
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        x[j] = is_there ? in.rows[row * COLUMNS + j] : (REAL)0;
        has_gap |= isnan(x[j]);
    }
    REAL largest = -infinity(), sum = 0;
    for (int first = 0; first < in.k; first += at_a_time) {
        const int count = min((int)at_a_time, in.k - first);
        __syncthreads();
        for (int i = threadIdx.x; i < count * each; i += ROWS) {
            const long long component = first + i / each;
            const int at = i % each;
            parameters[i] = at < COLUMNS ? in.means[component * COLUMNS + at] : in.whiteners[component * size + at - COLUMNS];
        }
        __syncthreads();
        for (int i = 0; i < count; ++i) {
            const REAL* mean = parameters + i * each;
            const REAL* whitener = mean + COLUMNS;
            REAL deviation[COLUMNS], sq = 0;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) deviation[j] = x[j] - mean[j];
            if (in.is_diagonal) {
#pragma unroll
                for (int j = 0; j < COLUMNS; ++j) sq += (whitener[j] * deviation[j]) * (whitener[j] * deviation[j]);
            } else {
#pragma unroll
                for (int l = 0; l < COLUMNS; ++l) {
                    REAL z = 0;
#pragma unroll
                    for (int j = 0; j <= l; ++j) z += whitener[l * (l + 1) / 2 + j] * deviation[j];
                    sq += z * z;
                }
            }
            if (!is_there) continue;
            if (isnan(sq)) sq = infinity(); // the square has overflowed
            const long long at = (first + i) * in.pitch + row;
            REAL value = in.constants[first + i] - (REAL)0.5 * sq;
            if (in.offsets) value += in.offsets[at];
            if (log_joint) log_joint[at] = value;
            shares[at] = value;
            if (value > largest) {
                sum = sum * exponential(largest - value) + 1;
                largest = value;
            } else if (value > -infinity())
                sum += exponential(value - largest);
        }
    }
    if (!is_there) return;
    const REAL log_sum = has_gap ? not_a_number() : largest + logarithm(sum);
    if (has_gap || !isfinite(log_sum)) atomicAdd(flags + (has_gap ? 0 : 1), 1);
    if (log_density) log_density[row] = log_sum;
    const REAL weight = in.weights ? in.weights[row] : (REAL)1;
    for (int i = 0; i < in.k; ++i) {
        const long long at = i * in.pitch + row;
        shares[at] = has_gap ? (REAL)0 : weight * exponential(shares[at] - log_sum);
    }
}

// ------------------------------------------------------------------------------------------------ sums

// Sums of shares times y y', with y the deviation from the component's mean and a last element of one, so that they hold
// counts and sums, too. Each thread has four lines and four columns of the lower triangle of one component, and some of the
// rows of each tile; it adds a tile's part in REAL, and the parts of tiles in double. No two threads add to the same number:
// the result is the same in every run.
constexpr int THREADS = 256;
constexpr int SQUARES = (COLUMNS + 1 + 3) / 4, PADDED = 4 * SQUARES;
constexpr int TRIANGLES = SQUARES * (SQUARES + 1) / 2;
constexpr int ITEMS = COMPONENTS * TRIANGLES; // squares of 4 x 4 of all components of a block
constexpr int MINE = ITEMS < THREADS ? ITEMS : THREADS;
constexpr int GROUPS = THREADS / MINE;
constexpr int SHARE_PITCH = ROWS + 1; // components start in different banks

struct alignas(16) Four {
    REAL x[4];
};

extern "C" __global__ void __launch_bounds__(THREADS)
    moments_of_rows(DENSITIES_PARAMETERS, const REAL* shares, double* partial) { // (blocks, k groups, items, groups, 16)
    const Densities in = DENSITIES;
    extern __shared__ __align__(16) char memory[];
    REAL* tile = reinterpret_cast<REAL*>(memory);          // (ROWS, PADDED)
    REAL* tile_shares = tile + ROWS * PADDED;              // (COMPONENTS, SHARE_PITCH)
    const int first_component = blockIdx.y * COMPONENTS;
    const int group = threadIdx.x / MINE, item = blockIdx.z * THREADS + threadIdx.x % MINE;
    const bool has_item = group < GROUPS && item < ITEMS;
    const int component = item / TRIANGLES;
    int line = 0, column = item % TRIANGLES;
    while (column > line) column -= ++line;
    const bool is_real = has_item && first_component + component < in.k;

    for (int i = threadIdx.x; i < ROWS * PADDED; i += THREADS) tile[i] = i % PADDED == COLUMNS;
    Four mean_line, mean_column;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const long long at = (long long)(first_component + component) * COLUMNS;
        mean_line.x[i] = is_real && 4 * line + i < COLUMNS ? in.means[at + 4 * line + i] : (REAL)0;
        mean_column.x[i] = is_real && 4 * column + i < COLUMNS ? in.means[at + 4 * column + i] : (REAL)0;
    }
    double total[4][4] = {};
    const long long tiles = (in.n + ROWS - 1) / ROWS;
    for (long long t = blockIdx.x; t < tiles; t += gridDim.x) {
        const long long first = t * ROWS;
        const int count = (int)min((long long)ROWS, in.n - first);
        __syncthreads();
        for (int i = threadIdx.x; i < ROWS * COLUMNS; i += THREADS) {
            const REAL value = i < count * COLUMNS ? in.rows[first * COLUMNS + i] : (REAL)0;
            tile[i / COLUMNS * PADDED + i % COLUMNS] = isnan(value) ? (REAL)0 : value;
        }
        for (int i = threadIdx.x; i < COMPONENTS * ROWS; i += THREADS) {
            const int at = first_component + i / ROWS, row = i % ROWS;
            const bool is_there = at < in.k && row < count;
            tile_shares[i / ROWS * SHARE_PITCH + row] = is_there ? shares[at * in.pitch + first + row] : (REAL)0;
        }
        __syncthreads();
        if (!is_real) continue;
        REAL sum[4][4] = {};
        const int begin = group * ROWS / GROUPS, end = (group + 1) * ROWS / GROUPS;
        const Four* fours = reinterpret_cast<const Four*>(tile);
        const REAL* own = tile_shares + component * SHARE_PITCH;
#pragma unroll 4
        for (int row = begin; row < end; ++row) {
            const REAL share = own[row];
            const Four a = fours[row * SQUARES + line], b = fours[row * SQUARES + column];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const REAL weighted = share * (a.x[i] - mean_line.x[i]);
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += weighted * (b.x[j] - mean_column.x[j]);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) total[i][j] += (double)sum[i][j];
    }
    if (!has_item) return;
    double* to = partial + ((((long long)blockIdx.x * gridDim.y + blockIdx.y) * ITEMS + item) * GROUPS + group) * 16;
#pragma unroll
    for (int i = 0; i < 16; ++i) to[i] = total[i / 4][i % 4];
}

// ------------------------------------------------------------------------------------------------ gaps

// Products of a matrix for each pattern of gaps and component with the deviations of rows; a gap has the deviation zero.
extern "C" __global__ void mapped_deviations(const REAL* rows, const int* patterns, const REAL* means, const REAL* matrices,
                                             long long n, long long k, REAL* to) { // (n, d), (n,), (k, d), (p, k, d, d) -> (k, n, d)
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int component = blockIdx.y;
    if (row >= n) return;
    const REAL* matrix = matrices + ((long long)patterns[row] * k + component) * COLUMNS * COLUMNS;
    for (int i = 0; i < COLUMNS; ++i) {
        REAL sum = 0;
        for (int j = 0; j < COLUMNS; ++j) {
            const REAL value = rows[row * COLUMNS + j];
            sum += matrix[i * COLUMNS + j] * (isnan(value) ? (REAL)0 : value - means[(long long)component * COLUMNS + j]);
        }
        to[((long long)component * n + row) * COLUMNS + i] = sum;
    }
}

// Sums of shares over rows of the same pattern, which stand one after the other.
extern "C" __global__ void pattern_counts(const REAL* shares, const int* starts, long long n, long long n_patterns, double* to) {
    const int pattern = blockIdx.x * blockDim.x + threadIdx.x, component = blockIdx.y;
    if (pattern >= n_patterns) return;
    double sum = 0;
    for (int row = starts[pattern]; row < starts[pattern + 1]; ++row) sum += (double)shares[component * n + row];
    to[(long long)pattern * gridDim.y + component] = sum;
}
