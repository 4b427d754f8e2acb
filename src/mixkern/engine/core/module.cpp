// The Python module mixkern.engine._core. Arguments were checked in Python (check.py); what would read or write outside an array is
// checked again here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "driver.hpp"

namespace nb = nanobind;
using nb::c_contig;
using nb::device::cpu;

namespace {

using mixkern::Index;
template <class T, int kDimensions>
using In = nb::ndarray<const T, nb::ndim<kDimensions>, c_contig, cpu>;
template <class T, int kDimensions>
using MaybeIn = std::optional<In<T, kDimensions>>;

// Results beyond this many bytes would push everything else out of the caches.
constexpr std::size_t kCached = std::size_t(1) << 24;

void require(bool is_met, const char *rule) {
    if (!is_met) throw std::invalid_argument(std::string("mixkern.engine._core: ") + rule);
}

// Whether Python has a signal to raise, such as Ctrl-C.
bool is_interrupted() {
    nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
}

// Runs without the interpreter's lock; raises what has interrupted it.
template <class Run>
void finish(const Run &run) {
    bool is_finished;
    {
        nb::gil_scoped_release released;
        is_finished = run();
    }
    if (!is_finished) throw nb::python_error();
}

mixkern::Builds builds_named(const std::optional<std::string> &name) {
    const auto all = mixkern::usable_builds();
    if (!name) return all.front();
    for (const auto &builds : all)
        if (*name == builds.name) return builds;
    throw std::invalid_argument("isa '" + *name + "' is not one that this machine has");
}

struct Rows {
    In<double, 2> rows, shares;
    MaybeIn<std::int32_t, 2> codes;
    MaybeIn<std::int64_t, 1> order;
    MaybeIn<std::uint8_t, 2> keep;
};

mixkern::Side side_of(const Rows &given, const mixkern::Job &job) {
    const Index n = Index(given.rows.shape(0)), shares = Index(given.shares.shape(0));
    require(Index(given.rows.shape(1)) == job.d, "rows have another number of features than the centre");
    require(Index(given.shares.shape(1)) == job.k, "shares have another number of components than the whiteners");
    require(shares == n || shares == 1, "there must be one row of shares, or one for each row");
    mixkern::Side side{};
    side.rows = given.rows.data();
    side.shares = given.shares.data();
    side.share_stride = shares == 1 ? 0 : job.k;
    side.n_rows = n;
    if (given.codes) {
        require(Index(given.codes->shape(0)) == n && Index(given.codes->shape(1)) == job.e, "codes have another shape than the rows");
        side.codes = given.codes->data();
    } else {
        require(job.e == 0, "codes are missing on one side");
    }
    if (given.order) {
        require(Index(given.order->shape(0)) == n, "the order has another length than the rows");
        static_assert(sizeof(Index) == sizeof(std::int64_t), "orders are handed on as they are");
        side.order = reinterpret_cast<const Index *>(given.order->data());
        for (Index t = 0; t < n; ++t) require(side.order[t] >= 0 && side.order[t] < n, "the order points outside the rows");
    }
    if (given.keep) {
        require(Index(given.keep->shape(0)) == (n + mixkern::kGroup - 1) / mixkern::kGroup && Index(given.keep->shape(1)) == job.k,
                "the kept components have another shape than groups by components");
        side.keep = given.keep->data();
    }
    return side;
}

mixkern::Job job_of(const Rows &a, const std::optional<Rows> &b, const nb::ndarray<const double, c_contig, cpu> &whiteners,
                    const In<double, 1> &norms, const In<double, 1> &centre, std::optional<std::pair<double, double>> per_square, Index tile,
                    Index chunk) {
    mixkern::Job job{};
    require(whiteners.ndim() == 2 || whiteners.ndim() == 3, "whiteners have two or three dimensions");
    require(tile > 0 && tile % mixkern::kGroup == 0 && tile <= 4096, "the tile is a multiple of 32 up to 4096");
    job.d = Index(centre.shape(0));
    job.k = Index(whiteners.shape(0));
    job.e = a.codes ? Index(a.codes->shape(1)) : 0;
    job.tile = tile;
    require(job.k > 0 && job.k <= INT32_MAX, "there is at least one component");
    require(chunk > 0 && chunk <= job.k, "the chunk lies between one and the number of components");
    require(Index(norms.shape(0)) == job.k, "there is one norm per component");
    job.chunk = chunk;
    job.is_diagonal = whiteners.ndim() == 2;
    require(Index(whiteners.shape(1)) == job.d && (job.is_diagonal || Index(whiteners.shape(2)) == job.d), "whiteners do not fit the rows");
    job.whiteners = whiteners.data();
    job.norms = norms.data();
    job.centre = centre.data();
    job.is_kernel = per_square.has_value();
    if (per_square) {
        job.per_sq_distance = per_square->first;
        job.per_sq_count = per_square->second;
        require(job.per_sq_distance >= 0 && job.per_sq_count >= 0, "the factors of the exponent are not negative");
    }
    job.is_symmetric = !b;
    job.a = side_of(a, job);
    job.b = b ? side_of(*b, job) : job.a;
    require(bool(job.a.keep) == bool(job.b.keep), "kept components are missing on one side");
    return job;
}

Rows rows_of(const nb::tuple &given) {
    require(given.size() == 5, "a side is (rows, shares, codes, order, keep)");
    return {nb::cast<In<double, 2>>(given[0]), nb::cast<In<double, 2>>(given[1]), nb::cast<MaybeIn<std::int32_t, 2>>(given[2]),
            nb::cast<MaybeIn<std::int64_t, 1>>(given[3]), nb::cast<MaybeIn<std::uint8_t, 2>>(given[4])};
}

using Whiteners = nb::ndarray<const double, c_contig, cpu>;

template <class T>
void matrix(const nb::tuple &a, const std::optional<nb::tuple> &b, const Whiteners &whiteners, const In<double, 1> &norms,
            const In<double, 1> &centre, double per_sq_distance, double per_sq_count, bool is_kernel,
            nb::ndarray<T, nb::ndim<2>, cpu> out, Index tile, Index chunk, int n_threads, const std::optional<std::string> &isa) {
    const Rows rows_a = rows_of(a);
    std::optional<Rows> rows_b;
    if (b) rows_b = rows_of(*b);
    std::optional<std::pair<double, double>> per_square;
    if (is_kernel) per_square = {per_sq_distance, per_sq_count};
    mixkern::Job job = job_of(rows_a, rows_b, whiteners, norms, centre, per_square, tile, chunk);
    require(Index(out.shape(0)) == job.a.n_rows && Index(out.shape(1)) == job.b.n_rows, "out has another shape than the result");
    require(out.shape(1) <= 1 || out.stride(1) == 1, "the columns of out must lie side by side");
    require(out.shape(0) <= 1 || out.stride(0) >= Index(out.shape(1)), "the rows of out overlap");
    job.out = out.data();
    job.out_stride = Index(out.stride(0));
    job.is_float32 = sizeof(T) == sizeof(float);
    job.is_streamed = out.size() * sizeof(T) > kCached;
    const mixkern::Build &build = *builds_named(isa).tile;
    finish([&] { return mixkern::run_matrix(job, build, n_threads); });
}

void times(const nb::tuple &a, const nb::tuple &b, const Whiteners &whiteners, const In<double, 1> &norms, const In<double, 1> &centre,
           double per_sq_distance, double per_sq_count, const In<double, 2> &values,
           bool is_float32, nb::ndarray<double, nb::ndim<2>, c_contig, cpu> out, Index tile, Index chunk, int n_threads,
           const std::optional<std::string> &isa) {
    const Rows rows_a = rows_of(a);
    mixkern::Job job = job_of(rows_a, rows_of(b), whiteners, norms, centre, std::pair(per_sq_distance, per_sq_count), tile, chunk);
    require(Index(values.shape(1)) == job.b.n_rows, "values must be (q, m)");
    require(Index(out.shape(0)) == job.a.n_rows && out.shape(1) == values.shape(0), "out must be (n, q)");
    job.values = values.data();
    job.product = out.data();
    job.q = Index(values.shape(0));
    job.is_float32 = is_float32;
    const mixkern::Build &build = *builds_named(isa).tile;
    finish([&] { return mixkern::run_times(job, build, n_threads); });
}

template <int kDimensions>
using Out = std::optional<nb::ndarray<double, nb::ndim<kDimensions>, c_contig, cpu>>;

template <class Array>
double *data_of(Array &array, std::initializer_list<Index> shape, const char *rule) {
    if (!array) return nullptr;
    std::size_t axis = 0;
    for (const Index length : shape) require(Index(array->shape(axis++)) == length, rule);
    return array->data();
}

// Returns the sum of the log densities, times the weights, where moments are wanted.
double density(const nb::ndarray<const double, nb::ndim<2>, cpu> &rows, const In<double, 2> &means, const Whiteners &whiteners,
               const In<double, 1> &constants, const MaybeIn<double, 2> &offsets, const MaybeIn<double, 1> &weights, Out<2> log_joint,
               Out<2> shares, Out<1> log_density, Out<2> filled, Out<1> counts, Out<2> sums,
               std::optional<nb::ndarray<double, c_contig, cpu>> squares, int n_threads, const std::optional<std::string> &isa) {
    mixkern::DensityJob job{};
    job.n = Index(rows.shape(0));
    job.d = Index(rows.shape(1));
    job.k = Index(means.shape(0));
    job.rows = rows.data();
    job.row_stride = Index(rows.stride(0));
    job.column_stride = Index(rows.stride(1));
    require(job.k > 0, "there is at least one component");
    require(Index(means.shape(1)) == job.d, "means have another number of features than the rows");
    require(whiteners.ndim() == 2 || whiteners.ndim() == 3, "whiteners have two or three dimensions");
    job.is_diagonal = whiteners.ndim() == 2;
    require(Index(whiteners.shape(0)) == job.k && Index(whiteners.shape(1)) == job.d, "whiteners do not fit the means");
    require(job.is_diagonal || Index(whiteners.shape(2)) == job.d, "whiteners do not fit the means");
    require(Index(constants.shape(0)) == job.k, "there is one constant per component");
    job.means = means.data();
    job.whiteners = whiteners.data();
    job.constants = constants.data();
    if (offsets) require(Index(offsets->shape(0)) == job.n && Index(offsets->shape(1)) == job.k, "offsets must be (n, k)");
    if (weights) require(Index(weights->shape(0)) == job.n, "weights must be (n)");
    job.offsets = offsets ? offsets->data() : nullptr;
    job.weights = weights ? weights->data() : nullptr;
    job.log_joint = data_of(log_joint, {job.n, job.k}, "log_joint must be (n, k)");
    job.shares = data_of(shares, {job.n, job.k}, "shares must be (n, k)");
    job.log_density = data_of(log_density, {job.n}, "log_density must be (n)");
    job.filled = data_of(filled, {job.n, job.d}, "filled must be (n, d)");
    require(!filled || !weights, "gaps are filled without weights");
    require(bool(counts) == bool(sums) && bool(counts) == bool(squares), "counts, sums and squares come together");
    mixkern::Moments moments{};
    if (counts) {
        moments.counts = data_of(counts, {job.k}, "counts must be (k)");
        moments.sums = data_of(sums, {job.k, job.d}, "sums must be (k, d)");
        require(squares->ndim() == whiteners.ndim(), "squares must have the shape of the whiteners");
        for (std::size_t axis = 0; axis < squares->ndim(); ++axis)
            require(squares->shape(axis) == whiteners.shape(axis), "squares must have the shape of the whiteners");
        moments.squares = squares->data();
    }
    const mixkern::DensityBuild &build = *builds_named(isa).density;
    finish([&] { return mixkern::run_density(job, build, counts ? &moments : nullptr, n_threads); });
    return moments.log_normaliser;
}

}  // namespace

NB_MODULE(_core, m) {
    mixkern::should_stop = &is_interrupted;
    m.doc() = "Distances and kernels of mixtures, compiled. Called by mixkern.engine, which checks the arguments.";
    m.def("isas", [] {
        std::vector<std::string> names;
        for (const auto &builds : mixkern::usable_builds()) names.emplace_back(builds.name);
        return names;
    });
    m.def("matrix", &matrix<double>, nb::arg("a"), nb::arg("b").none(), nb::arg("whiteners"), nb::arg("norms"), nb::arg("centre"),
          nb::arg("per_sq_distance"), nb::arg("per_sq_count"), nb::arg("is_kernel"), nb::arg("out").noconvert(), nb::arg("tile"),
          nb::arg("chunk"), nb::arg("n_threads"), nb::arg("isa").none());
    m.def("matrix", &matrix<float>, nb::arg("a"), nb::arg("b").none(), nb::arg("whiteners"), nb::arg("norms"), nb::arg("centre"),
          nb::arg("per_sq_distance"), nb::arg("per_sq_count"), nb::arg("is_kernel"), nb::arg("out").noconvert(), nb::arg("tile"),
          nb::arg("chunk"), nb::arg("n_threads"), nb::arg("isa").none());
    m.def("times", &times, nb::arg("a"), nb::arg("b"), nb::arg("whiteners"), nb::arg("norms"), nb::arg("centre"), nb::arg("per_sq_distance"),
          nb::arg("per_sq_count"), nb::arg("values"), nb::arg("is_float32"), nb::arg("out").noconvert(), nb::arg("tile"), nb::arg("chunk"),
          nb::arg("n_threads"), nb::arg("isa").none());
    m.def("density", &density, nb::arg("rows"), nb::arg("means"), nb::arg("whiteners"), nb::arg("constants"), nb::arg("offsets").none(),
          nb::arg("weights").none(), nb::arg("log_joint").noconvert().none(), nb::arg("shares").noconvert().none(),
          nb::arg("log_density").noconvert().none(), nb::arg("filled").noconvert().none(), nb::arg("counts").noconvert().none(),
          nb::arg("sums").noconvert().none(), nb::arg("squares").noconvert().none(), nb::arg("n_threads"), nb::arg("isa").none());
}
