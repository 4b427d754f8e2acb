// Distances and kernels between rows, on a GPU.
//
// Compiled at run time for one type and one number of coordinates:
//   REAL        float or double: the type of all arithmetic
//   COORDINATES coordinates of a stage: all of them, or one of several chunks of equally many
//   CHUNKS      chunks that the coordinates of a component are divided into
//   COMPONENTS  components of a stage: more than one only with a single chunk
//   MY_ROWS     rows of a thread, 4 or 8; it has 4 columns
//   IS_KERNEL   1 for a kernel, 0 for distances
//   HAS_CODES   1 where rows have categories, otherwise 0
//   STEPS       steps of 16 halves, of pairs_by_products
//   WIDE        columns of tiles of pairs_by_products, in units of 32
//   SLOTS       stages in shared memory
//
// A stage is the part of the whitened rows that a block of threads needs at a time. Several are in shared memory: one is
// computed while the next ones arrive. On Hopper and later, one thread asks for a stage in a few copies (cp.async.bulk), and
// each warp waits for a stage and releases it by itself, so that some warps compute roots while others compute squares.

struct Pairs {
    const void* a;        // whitened rows: see white_rows and halves_of_rows
    const void* b;
    const float* shares_a; // (k, n padded): half of the responsibilities, of pairs_by_products
    const float* shares_b; // (k, m padded)
    const int* codes_a;   // (e, n padded), or null
    const int* codes_b;   // (e, m padded), or null
    long long n, m;       // rows
    long long pitch_a, pitch_b; // padded
    long long ld;         // elements between the rows of the result
    int k, e;
    int is_symmetric;     // only tiles on and below the diagonal are computed; the others are mirrored
    REAL per_sq_distance, per_sq_count; // factors of the squares in the exponent, with the base 2
};

// Arguments of a launch: NVRTC's callers pass pointers, long long and double.
#define PAIRS_PARAMETERS                                                                                                    \
    const void *a, const void *b, const float *shares_a, const float *shares_b, const int *codes_a, const int *codes_b,     \
        long long n, long long m, long long pitch_a, long long pitch_b, long long ld, long long k, long long e,             \
        long long is_symmetric, double per_sq_distance, double per_sq_count
#define PAIRS                                                                                                               \
    {a, b, shares_a, shares_b, codes_a, codes_b, n, m, pitch_a, pitch_b, ld, (int)k, (int)e, (int)is_symmetric,             \
     (REAL)per_sq_distance, (REAL)per_sq_count}

__device__ __forceinline__ double root(double x) { return sqrt(x); }
__device__ __forceinline__ double power_of_two(double x) { return exp2(x); }

constexpr int HEAD = 128; // bytes of the barriers before the slots

// Stages in shared memory, filled in turn: a slot is full when its bytes have arrived, and empty when all threads have read it.
// FILL(slot, barrier, stage) asks for the bytes of a stage; the copy without barriers,
// of older processors, is COPY(slot, stage), by all threads.
template <int WARPS, int BYTES>
struct Pipeline {
    char* memory;
    u32 full, empty;
    int slot = 0, before = SLOTS - 1; // of this stage and of the one before
    u32 parity = 0;

    template <class Fill>
    __device__ __forceinline__ Pipeline(char* shared, int n_stages, const Fill& fill) : memory(shared + HEAD) {
        full = (u32)__cvta_generic_to_shared(shared), empty = full + 8 * SLOTS;
        if (!HAS_BULK_COPIES) return;
        if (threadIdx.x == 0) {
            for (int s = 0; s < SLOTS; ++s) initialise(full + 8 * s, 1), initialise(empty + 8 * s, 32 * WARPS);
            publish_barriers();
            for (int s = 0; s < SLOTS && s < n_stages; ++s) fill(full + HEAD + s * BYTES, full + 8 * s, s);
        }
        __syncthreads();
    }

    // Waits for a stage, and fills the slot of the one before again, once all threads have read it.
    template <class Fill, class Copy>
    __device__ __forceinline__ void begin(int stage, int n_stages, const Fill& fill, const Copy& copy) {
        if (!HAS_BULK_COPIES) {
            __syncthreads();
            copy(memory, stage);
            __syncthreads();
            return;
        }
        if (threadIdx.x == 0 && stage > 0 && stage - 1 + SLOTS < n_stages) {
            await(empty + 8 * before, slot == 0 ? parity ^ 1 : parity);
            fill(full + HEAD + before * BYTES, full + 8 * before, stage - 1 + SLOTS);
        }
        await(full + 8 * slot, parity);
    }
    __device__ __forceinline__ const char* bytes() const { return memory + (HAS_BULK_COPIES ? slot * BYTES : 0); }
    // The stage is in registers; its slot may be filled again.
    __device__ __forceinline__ void release() {
        if (!HAS_BULK_COPIES) return;
        arrive(empty + 8 * slot);
        before = slot;
        if (++slot == SLOTS) slot = 0, parity ^= 1;
    }
};

template <int THREADS>
__device__ __forceinline__ void copy_by_threads(void* to, const void* from, int bytes) {
    for (int i = threadIdx.x; i < bytes / 16; i += THREADS) ((uint4*)to)[i] = ((const uint4*)from)[i];
}

template <int N>
__device__ __forceinline__ void read(float (&to)[N], const float* from) {
#pragma unroll
    for (int i = 0; i < N / 4; ++i) {
        const float4 four = reinterpret_cast<const float4*>(from)[i];
        to[4 * i] = four.x, to[4 * i + 1] = four.y, to[4 * i + 2] = four.z, to[4 * i + 3] = four.w;
    }
}
template <int N>
__device__ __forceinline__ void read(double (&to)[N], const double* from) {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) {
        const double2 two = reinterpret_cast<const double2*>(from)[i];
        to[2 * i] = two.x, to[2 * i + 1] = two.y;
    }
}

// Position of a tile: rows in large groups, so that tiles that run at the same time share rows and columns in the cache;
// or, for a symmetric result, the tiles on and below the diagonal, PER_ROW columns of tiles to each row of them.
template <int PER_ROW>
__device__ __forceinline__ void tile_position(const Pairs& pairs, u32 rows, u32 columns, u32* i, u32* j) {
    const u32 at = blockIdx.x;
    if (pairs.is_symmetric) {
        // PER_ROW (r + 1) tiles in row r: PER_ROW r (r + 1) / 2 before it
        u32 r = (u32)((sqrtf(1.0f + 8.0f / PER_ROW * (float)at) - 1.0f) / 2.0f);
        while (PER_ROW * (r + 1) * (r + 2) / 2 <= at) ++r;
        while (PER_ROW * r * (r + 1) / 2 > at) --r;
        *i = r, *j = at - PER_ROW * r * (r + 1) / 2;
        return;
    }
    constexpr u32 GROUP = 16;
    const u32 first = at / (GROUP * columns) * GROUP;
    const u32 height = rows - first < GROUP ? rows - first : GROUP;
    const u32 within = at - first * columns;
    *i = first + within % height, *j = within / height;
}

__device__ __forceinline__ REAL finished(const Pairs& pairs, REAL distance, int count) {
    if (!IS_KERNEL) return distance;
    REAL exponent = pairs.per_sq_distance * (distance * distance);
    if (HAS_CODES) exponent += pairs.per_sq_count * (REAL)(count * count);
    return power_of_two(-exponent);
}

// ------------------------------------------------------------------------------------------------ by differences

// Whitened rows are in blocks of BLOCK rows: (blocks, k, coordinates + 1, BLOCK); the last line of a component has the shares.
constexpr int BLOCK = 64, THREADS = 256, MY_COLUMNS = 4;
constexpr int ROWS = 16 * MY_ROWS, COLUMNS = 16 * MY_COLUMNS;
constexpr int LINES = COMPONENTS * (COORDINATES + 1);   // of a stage
constexpr int ALL_LINES = CHUNKS * COORDINATES + 1;     // of a component
constexpr int PART = LINES * BLOCK * (int)sizeof(REAL); // bytes of a stage of one block of rows
constexpr int PARTS = ROWS / BLOCK;                     // blocks of rows of the left side, before that of the right side

__device__ __forceinline__ const REAL* stage_of(const void* rows, int k, long long block, int stage) {
    const long long line = (block * k + stage / CHUNKS * COMPONENTS) * ALL_LINES + stage % CHUNKS * COORDINATES;
    return (const REAL*)rows + line * BLOCK;
}

__device__ __forceinline__ void count_differences(const Pairs& pairs, long long row, long long column,
                                                  int (&counts)[MY_ROWS][MY_COLUMNS]) {
    for (int e = 0; e < pairs.e; ++e) {
        int mine[MY_ROWS], other[MY_COLUMNS];
#pragma unroll
        for (int r = 0; r < MY_ROWS; ++r) mine[r] = pairs.codes_a[e * pairs.pitch_a + row + r];
#pragma unroll
        for (int c = 0; c < MY_COLUMNS; ++c) other[c] = pairs.codes_b[e * pairs.pitch_b + column + c];
#pragma unroll
        for (int r = 0; r < MY_ROWS; ++r)
#pragma unroll
            for (int c = 0; c < MY_COLUMNS; ++c) counts[r][c] += mine[r] != other[c];
    }
}

__device__ __forceinline__ void write(const Pairs& pairs, REAL* out, long long row, long long column,
                                      const REAL (&values)[MY_ROWS][MY_COLUMNS], bool is_mirrored, bool is_crossed) {
    const bool is_whole = row + MY_ROWS <= pairs.n && column + MY_COLUMNS <= pairs.m && pairs.ld % 4 == 0 &&
                          (u64)out % 32 == 0 && !is_crossed;
    if (is_whole) {
        REAL* first = out + row * pairs.ld + column;
#pragma unroll
        for (int r = 0; r < MY_ROWS; ++r) {
            REAL* at = first + r * pairs.ld;
            if constexpr (sizeof(REAL) == 4)
                *(float4*)at = make_float4(values[r][0], values[r][1], values[r][2], values[r][3]);
            else {
                ((double2*)at)[0] = make_double2(values[r][0], values[r][1]);
                ((double2*)at)[1] = make_double2(values[r][2], values[r][3]);
            }
        }
        if (!is_mirrored) return;
        first = out + column * pairs.ld + row;
#pragma unroll
        for (int c = 0; c < MY_COLUMNS; ++c) {
            REAL* at = first + c * pairs.ld;
            if constexpr (sizeof(REAL) == 4) {
#pragma unroll
                for (int r = 0; r < MY_ROWS; r += 4)
                    ((float4*)at)[r / 4] = make_float4(values[r][c], values[r + 1][c], values[r + 2][c], values[r + 3][c]);
            } else {
#pragma unroll
                for (int r = 0; r < MY_ROWS; r += 2) ((double2*)at)[r / 2] = make_double2(values[r][c], values[r + 1][c]);
            }
        }
        return;
    }
#pragma unroll
    for (int r = 0; r < MY_ROWS; ++r)
#pragma unroll
        for (int c = 0; c < MY_COLUMNS; ++c) {
            const long long i = row + r, j = column + c;
            if (i >= pairs.n || j >= pairs.m || (is_crossed && j > i)) continue;
            out[i * pairs.ld + j] = values[r][c];
            if (is_mirrored && i != j) out[j * pairs.ld + i] = values[r][c];
        }
}

// Whitened differences: every digit of a small distance is kept, and equal rows have the distance zero.
extern "C" __global__ void __launch_bounds__(THREADS, MY_ROWS * sizeof(REAL) == 16 ? 4 : 2) pairs_by_differences(PAIRS_PARAMETERS, REAL* out) {
    const Pairs pairs = PAIRS;
    extern __shared__ __align__(128) char memory[];
    u32 i, j;
    tile_position<ROWS / COLUMNS>(pairs, pairs.pitch_a / ROWS, (pairs.m + COLUMNS - 1) / COLUMNS, &i, &j);
    const long long first_row = (long long)i * ROWS, first_column = (long long)j * COLUMNS;
    if (first_column >= pairs.m) return; // the last row of tiles of a symmetric result
    const int my_row = threadIdx.x / 16 * MY_ROWS, my_column = threadIdx.x % 16 * MY_COLUMNS;

    const auto fill = [&](u32 slot, u32 barrier, int stage) {
        // All but the last chunk of a component leave out its shares.
        const u32 bytes = stage % CHUNKS == CHUNKS - 1 ? PART : PART - BLOCK * sizeof(REAL);
        expect(barrier, (PARTS + 1) * bytes);
        for (int p = 0; p < PARTS; ++p)
            copy_bytes(slot + p * PART, stage_of(pairs.a, pairs.k, (long long)i * PARTS + p, stage), bytes, barrier);
        copy_bytes(slot + PARTS * PART, stage_of(pairs.b, pairs.k, j, stage), bytes, barrier);
    };
    const auto copy = [&](char* slot, int stage) {
        const int bytes = stage % CHUNKS == CHUNKS - 1 ? PART : PART - BLOCK * (int)sizeof(REAL);
        for (int p = 0; p < PARTS; ++p)
            copy_by_threads<THREADS>(slot + p * PART, stage_of(pairs.a, pairs.k, (long long)i * PARTS + p, stage), bytes);
        copy_by_threads<THREADS>(slot + PARTS * PART, stage_of(pairs.b, pairs.k, j, stage), bytes);
    };
    const int n_stages = pairs.k / COMPONENTS * CHUNKS;
    Pipeline<THREADS / 32, (PARTS + 1) * PART> pipeline(memory, n_stages, fill);
    REAL total[MY_ROWS][MY_COLUMNS] = {}, sq[MY_ROWS][MY_COLUMNS] = {};
    for (int stage = 0; stage < n_stages; ++stage) {
        pipeline.begin(stage, n_stages, fill, copy);
        const REAL* left = (const REAL*)(pipeline.bytes() + my_row / BLOCK * PART) + my_row % BLOCK;
        const REAL* right = (const REAL*)(pipeline.bytes() + PARTS * PART) + my_column;
#pragma unroll
        for (int component = 0; component < COMPONENTS; ++component) {
#pragma unroll
            for (int d = 0; d < COORDINATES; ++d) {
                REAL mine[MY_ROWS], other[MY_COLUMNS];
                read(mine, left + (component * (COORDINATES + 1) + d) * BLOCK);
                read(other, right + (component * (COORDINATES + 1) + d) * BLOCK);
#pragma unroll
                for (int r = 0; r < MY_ROWS; ++r)
#pragma unroll
                    for (int c = 0; c < MY_COLUMNS; ++c) {
                        const REAL difference = mine[r] - other[c];
                        if (CHUNKS == 1 && d == 0)
                            sq[r][c] = difference * difference;
                        else
                            sq[r][c] += difference * difference;
                    }
            }
            if (CHUNKS > 1 && stage % CHUNKS != CHUNKS - 1) continue;
            REAL mine[MY_ROWS], other[MY_COLUMNS];
            read(mine, left + (component * (COORDINATES + 1) + COORDINATES) * BLOCK);
            read(other, right + (component * (COORDINATES + 1) + COORDINATES) * BLOCK);
#pragma unroll
            for (int r = 0; r < MY_ROWS; ++r)
#pragma unroll
                for (int c = 0; c < MY_COLUMNS; ++c) {
                    total[r][c] += (mine[r] + other[c]) * root(sq[r][c]);
                    if (CHUNKS > 1) sq[r][c] = 0;
                }
        }
        pipeline.release();
    }
    const long long row = first_row + my_row, column = first_column + my_column;
    int counts[MY_ROWS][MY_COLUMNS] = {};
    if (HAS_CODES) count_differences(pairs, row, column, counts);
#pragma unroll
    for (int r = 0; r < MY_ROWS; ++r)
#pragma unroll
        for (int c = 0; c < MY_COLUMNS; ++c) total[r][c] = finished(pairs, total[r][c], counts[r][c]);
    const bool is_crossed = pairs.is_symmetric && column + MY_COLUMNS > row;
    write(pairs, out, row, column, total, pairs.is_symmetric, is_crossed);
}

// ------------------------------------------------------------------------------------------------ by products

#ifdef STEPS

// Squares of differences as one product on tensor cores. A whitened coordinate z is split into two halves, z = h + l.
// With n the squared norm, split into three halves,
//   |z - y|^2 = n_z + n_y - 2 z y  ~  (-2 l_z) h_y + (-2 h_z) l_y + (-2 h_z) h_y + n_z 1 + 1 n_y,
// the scalar product of two rows of 3 d + 6 halves, padded to STEPS times 16. Products are exact. In each step, sixteen of
// them and the sum so far are cut off at 2^-25 of the largest, and their sum is cut off to a float. So small products are
// first, when the sum is small, too.
// The error of a square is some 2^-22 of the squared norms, so that small distances have no digits left, but a kernel's
// error is that of the square times gamma; pairs.py has its bound. Rows are centred at each component, which keeps norms
// small where they count.
//
// a and b: (k, rows padded, LINE) halves.

constexpr int DOWN = 4, ACROSS = WIDE;               // warps of a block of threads
constexpr int WARPS = DOWN * ACROSS, TILES = 4;      // and tiles of 16 x 8: a warp has 2 x TILES
constexpr int HEIGHT = 32 * DOWN, WIDTH = 8 * TILES * ACROSS;
constexpr int LINE = 16 * STEPS + 8;                 // halves of a row, padded: rows start in different banks
constexpr int BYTES = (HEIGHT + WIDTH) * (LINE * 2 + 4); // of a slot

extern "C" __global__ void __launch_bounds__(32 * WARPS, 16 / WARPS) pairs_by_products(PAIRS_PARAMETERS, float* out) {
    const Pairs pairs = PAIRS;
    extern __shared__ __align__(128) char memory[];
    u32 i, j;
    tile_position<HEIGHT / WIDTH>(pairs, pairs.pitch_a / HEIGHT, (pairs.m + WIDTH - 1) / WIDTH, &i, &j);
    const long long first_row = (long long)i * HEIGHT, first_column = (long long)j * WIDTH;
    if (first_column >= pairs.m) return; // the last row of tiles of a symmetric result
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / ACROSS * 32, warp_column = warp % ACROSS * 8 * TILES;

    const auto fill = [&](u32 slot, u32 barrier, int component) {
        expect(barrier, BYTES);
        const long long left = component * pairs.pitch_a + first_row, right = component * pairs.pitch_b + first_column;
        copy_bytes(slot, (const unsigned short*)pairs.a + left * LINE, HEIGHT * LINE * 2, barrier);
        copy_bytes(slot + HEIGHT * LINE * 2, (const unsigned short*)pairs.b + right * LINE, WIDTH * LINE * 2, barrier);
        copy_bytes(slot + (HEIGHT + WIDTH) * LINE * 2, pairs.shares_a + left, HEIGHT * 4, barrier);
        copy_bytes(slot + (HEIGHT + WIDTH) * LINE * 2 + HEIGHT * 4, pairs.shares_b + right, WIDTH * 4, barrier);
    };
    const auto copy = [&](char* slot, int component) {
        const long long left = component * pairs.pitch_a + first_row, right = component * pairs.pitch_b + first_column;
        copy_by_threads<32 * WARPS>(slot, (const unsigned short*)pairs.a + left * LINE, HEIGHT * LINE * 2);
        slot += HEIGHT * LINE * 2;
        copy_by_threads<32 * WARPS>(slot, (const unsigned short*)pairs.b + right * LINE, WIDTH * LINE * 2);
        slot += WIDTH * LINE * 2;
        copy_by_threads<32 * WARPS>(slot, pairs.shares_a + left, HEIGHT * 4);
        copy_by_threads<32 * WARPS>(slot + HEIGHT * 4, pairs.shares_b + right, WIDTH * 4);
    };
    Pipeline<WARPS, BYTES> pipeline(memory, pairs.k, fill);
    float total[2][TILES][4] = {}; // rows and columns of tiles, elements of this thread
    const u32 at_a = ((warp_row + lane % 16) * LINE + lane / 16 * 8) * 2;
    const u32 at_b = ((HEIGHT + warp_column + lane % 8 + lane / 16 * 8) * LINE + lane / 8 % 2 * 8) * 2;
    for (int component = 0; component < pairs.k; ++component) {
        pipeline.begin(component, pairs.k, fill, copy);
        const u32 slot = (u32)__cvta_generic_to_shared(pipeline.bytes());
        float sq[2][TILES][4] = {};
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            u32 left[2][4], right[TILES / 2][4];
#pragma unroll
            for (int r = 0; r < 2; ++r) read_matrices(left[r], slot + at_a + (r * 16 * LINE + step * 16) * 2);
#pragma unroll
            for (int c = 0; c < TILES / 2; ++c) read_matrices(right[c], slot + at_b + (c * 16 * LINE + step * 16) * 2);
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int c = 0; c < TILES; ++c)
                    multiply(sq[r][c], left[r], right[c / 2][c % 2 * 2], right[c / 2][c % 2 * 2 + 1]);
        }
        const float* shares = reinterpret_cast<const float*>(pipeline.bytes() + (HEIGHT + WIDTH) * LINE * 2);
        float mine[2][2];
        float2 other[TILES];
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int h = 0; h < 2; ++h) mine[r][h] = shares[warp_row + r * 16 + h * 8 + lane / 4];
#pragma unroll
        for (int c = 0; c < TILES; ++c)
            other[c] = *reinterpret_cast<const float2*>(shares + HEIGHT + warp_column + c * 8 + lane % 4 * 2);
        pipeline.release();
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int c = 0; c < TILES; ++c)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    total[r][c][2 * h] += (mine[r][h] + other[c].x) * root(fabsf(sq[r][c][2 * h]));
                    total[r][c][2 * h + 1] += (mine[r][h] + other[c].y) * root(fabsf(sq[r][c][2 * h + 1]));
                }
    }
    const bool is_diagonal = pairs.is_symmetric && first_column + WIDTH > first_row;
    const bool is_whole = first_row + HEIGHT <= pairs.n && first_column + WIDTH <= pairs.m && pairs.ld % 2 == 0 &&
                          (u64)out % 8 == 0 && !is_diagonal;
    const long long my_row = first_row + warp_row + lane / 4, my_column = first_column + warp_column + lane % 4 * 2;
    float* direct = out + my_row * pairs.ld + my_column;
    float* mirrored = out + my_column * pairs.ld + my_row;
#pragma unroll
    for (int r = 0; r < 4; ++r) // lines of eight rows
#pragma unroll
        for (int c = 0; c < TILES; ++c) {
            float values[2];
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                int count = 0;
                if (HAS_CODES)
                    for (int e = 0; e < pairs.e; ++e)
                        count += pairs.codes_a[e * pairs.pitch_a + my_row + 8 * r] !=
                                 pairs.codes_b[e * pairs.pitch_b + my_column + 8 * c + x];
                values[x] = finished(pairs, total[r / 2][c][r % 2 * 2 + x], count);
            }
            if (is_whole) {
                *(float2*)(direct + 8 * r * pairs.ld + 8 * c) = make_float2(values[0], values[1]);
                if (pairs.is_symmetric) {
                    mirrored[8 * c * pairs.ld + 8 * r] = values[0];
                    mirrored[(8 * c + 1) * pairs.ld + 8 * r] = values[1];
                }
                continue;
            }
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                const long long row = my_row + 8 * r, column = my_column + 8 * c + x;
                if (row >= pairs.n || column >= pairs.m || (pairs.is_symmetric && column > row)) continue;
                // A row's distance from itself is zero, but for rounding.
                const float value = pairs.is_symmetric && row == column ? 1.0f : values[x];
                out[row * pairs.ld + column] = value;
                if (pairs.is_symmetric) out[column * pairs.ld + row] = value;
            }
        }
}
#endif

// ------------------------------------------------------------------------------------------------ whitened rows

// What pairs need of the rows of one side, by one thread for each row.
struct Rows {
    const void* rows;      // (n, d), float or double; with strides, in elements
    long long stride_row, stride_column;
    int is_double;
    long long n, pitch;
    int d, k;
    const double* centres; // (k, d)
    const REAL* whiteners; // (k, d, d) lower triangular, or (k, d)
    int is_diagonal;
    const void* shares;    // (k, n) or (k,), with strides, in elements
    long long stride_component, stride_share;
    int is_double_share;
};

#define ROWS_PARAMETERS                                                                                                     \
    const void *rows, long long stride_row, long long stride_column, long long is_double, long long n, long long pitch,     \
        long long d, long long k, const double *centres, const REAL *whiteners, long long is_diagonal,  \
        const void *given_shares, long long stride_component, long long stride_share, long long is_double_share
#define ROWS_OF_SIDE                                                                                                        \
    {rows, stride_row, stride_column, (int)is_double, n, pitch, (int)d, (int)k, centres, whiteners,          \
     (int)is_diagonal, given_shares, stride_component, stride_share, (int)is_double_share}

__device__ __forceinline__ double number(const void* from, int is_double, long long at) {
    return is_double ? ((const double*)from)[at] : (double)((const float*)from)[at];
}

// One coordinate of a whitened row; sums in the order of the columns, so that equal rows have equal coordinates.
__device__ __forceinline__ REAL whitened(const Rows& side, long long row, int k, int i) {
    const double* centre = side.centres + (long long)k * side.d;
    const long long at = row * side.stride_row;
    if (side.is_diagonal)
        return side.whiteners[(long long)k * side.d + i] *
               (REAL)(number(side.rows, side.is_double, at + i * side.stride_column) - centre[i]);
    const REAL* line = side.whiteners + ((long long)k * side.d + i) * side.d;
    REAL sum = 0;
    for (int j = 0; j <= i; ++j)
        sum += line[j] * (REAL)(number(side.rows, side.is_double, at + j * side.stride_column) - centre[j]);
    return sum;
}

__device__ __forceinline__ double share(const Rows& side, int component, long long row) {
    return number(side.shares, side.is_double_share, component * side.stride_component + row * side.stride_share);
}

// The mean of some rows in each component, weighted by their shares: where to centre rows; the first row, where all shares
// are zero. One block of threads for each component, one column at a time; every step-th row is read.
extern "C" __global__ void __launch_bounds__(256) centres_of_rows(ROWS_PARAMETERS, long long step, double* to) {
    const Rows side = ROWS_OF_SIDE;
    extern __shared__ __align__(128) char memory[];
    double* sums = reinterpret_cast<double*>(memory); // of all threads
    double weight = 0;
    for (int j = -1; j < side.d; ++j) { // first the sum of the shares
        double sum = 0;
        for (long long row = threadIdx.x * step; row < side.n; row += 256 * step)
            sum += share(side, blockIdx.x, row) *
                   (j < 0 ? 1.0 : number(side.rows, side.is_double, row * side.stride_row + j * side.stride_column));
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (int half = 128; half > 0; half /= 2) {
            if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
            __syncthreads();
        }
        const double total = sums[0];
        __syncthreads();
        if (j < 0)
            weight = total;
        else if (threadIdx.x == 0)
            to[(long long)blockIdx.x * side.d + j] =
                weight > 1e-30 ? total / weight : number(side.rows, side.is_double, j * side.stride_column);
    }
}

extern "C" __global__ void whitened_rows(ROWS_PARAMETERS, REAL* to) {
    const Rows side = ROWS_OF_SIDE;
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int component = blockIdx.y;
    if (row >= side.pitch) return;
    const bool is_there = row < side.n && component < side.k;
    REAL* at = to + (row / BLOCK * gridDim.y + component) * ALL_LINES * BLOCK + row % BLOCK;
    for (int i = 0; i < ALL_LINES - 1; ++i)
        at[i * BLOCK] = is_there && i < side.d ? whitened(side, row, component, i) : (REAL)0;
    at[(ALL_LINES - 1) * BLOCK] = is_there ? (REAL)(0.5 * share(side, component, row)) : (REAL)0;
}

#ifdef STEPS
// The halves of pairs_by_products, for the left or the right factor; and the largest weighted sum of squared norms over
// components, as the bits of a float, from which the bound of the error in pairs.py is computed.
extern "C" __global__ void halves_of_rows(ROWS_PARAMETERS, long long is_left, const float* ratios, uint4* to, float* shares,
                                          u32* largest) { // ratios: (k,)
    const Rows side = ROWS_OF_SIDE;
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= side.pitch) return;
    const bool is_there = row < side.n;
    double x[COORDINATES];
#pragma unroll
    for (int i = 0; i < COORDINATES; ++i)
        x[i] = is_there ? number(side.rows, side.is_double, row * side.stride_row + i * side.stride_column) : 0.0;
    const float factor = is_left ? -2.0f : 1.0f;
    float weighted = 0;
    bool is_too_large = false;
    for (int component = 0; component < side.k; ++component) {
        union {
            unsigned short halves[LINE];
            uint4 units[LINE / 8];
        } line;
#pragma unroll
        for (int i = 0; i < LINE; ++i) line.halves[i] = 0;
        const double* centre = side.centres + (long long)component * COORDINATES;
        const REAL* whitener = side.whiteners + (long long)component * COORDINATES * (side.is_diagonal ? 1 : COORDINATES);
        float deviation[COORDINATES];
        double norm = 0;
#pragma unroll
        for (int i = 0; i < COORDINATES; ++i) deviation[i] = (float)(x[i] - centre[i]);
#pragma unroll
        for (int i = 0; i < COORDINATES; ++i) {
            float z = 0;
            if (side.is_diagonal)
                z = whitener[i] * deviation[i];
            else
#pragma unroll
                for (int j = 0; j <= i; ++j) z += whitener[i * COORDINATES + j] * deviation[j];
            const float high = of_half(half_of(z)), low = of_half(half_of(z - high)), both = high + low;
            norm += (double)both * both;
            is_too_large |= !(fabsf(z) < 16000.0f);
            line.halves[i] = half_of(factor * (is_left ? low : high));
            line.halves[COORDINATES + i] = half_of(factor * (is_left ? high : low));
            line.halves[2 * COORDINATES + i] = half_of(factor * high);
        }
        is_too_large |= !(norm < 60000.0);
        const float high = of_half(half_of((float)norm)), middle = of_half(half_of((float)(norm - high)));
        const float parts[3] = {high, middle, (float)(norm - high - middle)};
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            line.halves[3 * COORDINATES + i] = half_of(is_left ? parts[i] : 1.0f);
            line.halves[3 * COORDINATES + 3 + i] = half_of(is_left ? 1.0f : parts[i]);
        }
        const long long at = component * side.pitch + row;
#pragma unroll
        for (int i = 0; i < LINE / 8; ++i) to[at * (LINE / 8) + i] = is_there ? line.units[i] : make_uint4(0, 0, 0, 0);
        const float own = is_there ? (float)share(side, component, row) : 0.0f;
        shares[at] = 0.5f * own;
        weighted += own * (0.5f * own + (2.0f - own) * ratios[component]) * (float)norm;
    }
    if (is_there) atomicMax(largest, is_too_large ? 0x7f800000u : __float_as_uint(weighted));
}
#endif
