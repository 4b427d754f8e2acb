"""Items of the paper's sections on its method: density, kernels, categories."""

from mixkern_study.items.item import AS_WRITTEN, DIFFERS, EXACT, READING, SLIP, PaperItem

DENSITY = (
    PaperItem(
        "Rows have a density that is a mixture of Gaussians; a responsibility is the probability of a component, given "
        "the row.",
        "3.1, equations 1 to 5",
        ("mixkern.density.Mixture.log_density", "mixkern.density.Mixture.responsibilities"),
        EXACT,
        "",
        (
            "tests/density/test_mixture.py::test_densities_are_the_literal_ones",
            "tests/density/test_mixture.py::test_the_density_integrates_to_one",
            "figure 2",
        ),
    ),
    PaperItem(
        "The mixing coefficient of a component is the sum of its responsibilities for the N rows.",
        "3.2, after equation 6",
        ("mixkern.density.VBMixture",),
        SLIP,
        "The sum is N times too large. The code has the posterior mean of variational inference: the sum and alpha0, "
        "divided by their total.",
        ("tests/density/test_posterior.py::test_the_mixture_has_the_expected_parameters",),
    ),
    PaperItem(
        "The mixture is learned by variational inference with the priors alpha0, beta0 and w0 (in full: alpha0, beta0, "
        "nu0 and W0, and a Dirichlet prior for the categories).",
        "3.1 and 3.2",
        ("mixkern.density.VBMixture", "mixkern.density.posterior.Prior"),
        EXACT,
        "The updates are those of Bishop (2006, 10.2), to which the paper refers. Each categorical column has one more "
        "category, for values that come later.",
        (
            "tests/density/test_posterior.py::test_full_posterior_is_the_literal_one",
            "tests/density/test_expectation.py::test_full_e_step_is_the_literal_one",
            "tests/density/test_posterior.py::test_one_component_of_categories_has_a_closed_form",
            "tests/density/test_inference.py::test_agrees_with_scikit_learn_after_the_same_iterations",
        ),
    ),
    PaperItem(
        "No component collapses onto single rows.",
        "3.1",
        ("mixkern.density.VBMixture",),
        AS_WRITTEN,
        "",
        ("tests/density/test_vb.py::test_positive_definite",),
    ),
    PaperItem(
        "Inference starts with many components and removes those that are not needed.",
        "3.1",
        ("mixkern.density.VBMixture", "mixkern_study.fold.fitted_density"),
        DIFFERS,
        "The start has 20 components; the paper gives no number. The project's own density also merges pairs of "
        "components where this raises the evidence bound; density='paper' does not.",
        (
            "tests/density/test_inference.py::test_components_that_explain_too_little_leave",
            "tests/density/test_vb_laws.py::test_an_accepted_merger_raises_the_bound",
            "tests/density/test_search.py::test_the_search_of_the_paper",
        ),
    ),
    PaperItem(
        "The larger w0, the smaller the components, and the more of them.",
        "3.2",
        ("mixkern.density.VBMixture",),
        AS_WRITTEN,
        "",
        ("tests/density/test_vb.py::test_larger_precision_priors_make_more_components", "figure 6"),
    ),
    PaperItem(
        "The priors are found by an exhaustive search. It is scored by representativity, the symmetric "
        "Kullback-Leibler divergence between the mixture and a Parzen window.",
        "4.2.1",
        ("mixkern.density.DensitySearch.from_paper", "mixkern.density.representativity"),
        DIFFERS,
        "The 30 combinations of values are ours, as the paper lists none. The divergence is that of held-out rows: on "
        "the training rows, densities of single rows would be best. Categorical columns are left out.",
        (
            "tests/density/test_search.py::test_the_search_of_the_paper",
            "tests/density/test_search.py::test_representativity_against_brute_force",
            "tests/density/test_search.py::test_judged_on_fresh_rows_a_density_of_single_rows_loses",
            "tests/density/test_search.py::test_categories_do_not_change_representativity",
        ),
    ),
    PaperItem(
        "RWM and GMM use this density.",
        "4.2.1",
        ("mixkern_study.protocol.DensityStrategy", "mixkern.density.Mixture.steadied"),
        READING,
        "density='paper' is the search above, and its mixture is used as it is. density='default' has VBMixture's "
        "default priors, and kernels shrink its covariances towards their mean. Both are run in all experiments.",
        (
            "study/tests/test_evaluation.py::test_the_papers_own_density_is_taken_as_it_is",
            "study/tests/test_fold.py::test_the_papers_search_is_over_all_priors",
            "table densities",
            "tests/density/test_mixture.py::test_components_of_few_rows_lean_on_the_mean",
        ),
    ),
)

KERNELS = (
    PaperItem(
        "The GMM distance is the mean of the components' Mahalanobis distances, weighted by mixing coefficients.",
        "3.2, equation 6",
        ("mixkern.kernels.GMMKernel",),
        EXACT,
        "",
        ("tests/kernels/test_base.py::test_distances_against_the_papers_formulas", "figure 3"),
    ),
    PaperItem(
        "The RWM distance weighs them by the mean of the responsibilities for both rows. It is symmetric, and zero "
        "between equal rows.",
        "3.2, equation 7",
        ("mixkern.kernels.RWMKernel",),
        EXACT,
        "",
        (
            "tests/kernels/test_base.py::test_distances_against_the_papers_formulas",
            "tests/kernels/test_base.py::test_symmetric_with_a_diagonal_of_exactly_one",
            "figure 3",
        ),
    ),
    PaperItem(
        "The Euclidean distance is the squared norm of the difference.",
        "3.2, after equation 6",
        ("mixkern.kernels.RBFKernel",),
        SLIP,
        "Squared norms are no distance; the paper's own equation 8 squares the norm once. The code does the same.",
        ("tests/kernels/test_rbf.py::test_rbf_is_scikit_learns",),
    ),
    PaperItem(
        "With equal round components, the RWM distance is the Euclidean one; with one component, RWM behaves like RBF.",
        "3.2 and 3.3",
        ("mixkern.kernels.RWMKernel",),
        EXACT,
        "",
        (
            "tests/kernels/test_mixture.py::test_equal_isotropic_components_give_rbf",
            "study/tests/plot/test_paper.py::test_one_component_makes_rwm_the_rbf_kernel",
            "figure 4",
        ),
    ),
    PaperItem(
        "Each kernel is exp(-gamma distance^2), and any SVM that takes a kernel matrix can use it.",
        "3.3, equations 8 to 10",
        ("mixkern.kernels.DistanceKernel", "mixkern.kernels.RBFKernel"),
        EXACT,
        "",
        (
            "tests/kernels/test_base.py::test_the_kernel_is_a_gaussian_of_the_distance",
            "tests/kernels/test_base.py::test_in_the_machines_of_scikit_learn",
        ),
    ),
    PaperItem(
        "Covariances of figure 1, ((0.00, -0.01), (-0.01, 0.10)), and of figure 3, ((-0.34, -0.24), (-0.24, 0.33)).",
        "1 and 3.2",
        ("mixkern.datasets.make_two_rings", "mixkern_study.plot.paper_levels"),
        SLIP,
        "Neither is positive definite. Figure 1 uses an estimate of our own; figure 3 uses 0.34.",
        ("study/tests/test_items.py::test_two_printed_matrices_are_no_covariances", "figure 1", "figure 3"),
    ),
    PaperItem(
        "All 100 kernel matrices of RWM were positive semi-definite.",
        "4.3",
        ("mixkern.kernels.definiteness", "mixkern_study.definiteness_table"),
        DIFFERS,
        "RWM kernels are not positive semi-definite in general; the documentation has a counterexample. The table has "
        "the number of matrices with negative eigenvalues in the study.",
        (
            "tests/kernels/test_definite.py::test_rwm_is_not_definite_in_general",
            "tests/kernels/test_definite.py::test_the_counterexample_of_the_documentation",
            "table definiteness",
        ),
    ),
    PaperItem(
        "libsvm copes with kernels that are not positive semi-definite.",
        "3.3 and 4.3",
        ("mixkern.svm.classifier", "mixkern.kernels.Repair"),
        DIFFERS,
        "Where it does not converge on such a matrix, negative eigenvalues are clipped before the chosen classifier is "
        "trained.",
        ("tests/svm/test_libsvm.py::test_auto_clips_where_libsvm_does_not_converge",),
    ),
    PaperItem(
        "SVMs are trained by SMO (libsvm), and extended to several classes.",
        "3.3 and 4",
        ("mixkern.svm.classifier", "mixkern.svm.batch.pair_classifiers", "mixkern.svm.one_vs_one.class_scores"),
        AS_WRITTEN,
        "The paper does not say how classes are combined; here it is libsvm's one against one. With up to 128 labels, "
        "the SVMs of many settings are trained at once by the same method.",
        (
            "tests/svm/test_libsvm.py::test_classifier_is_svc",
            "tests/svm/test_batch.py::test_exact_decision_values_are_those_of_libsvm",
            "study/tests/test_rating.py::test_trials_are_those_of_libsvm_one_by_one",
            "tests/svm/test_one_vs_one.py::test_scores_are_those_of_scikit_learn",
            "study/tests/test_evaluation.py::test_the_accuracy_is_that_of_a_plain_svm_with_the_chosen_settings",
        ),
    ),
    PaperItem(
        "Keerthi and Lin's line: log gamma = log C - log C_linear, 'with a slope of minus one'.",
        "3.3",
        ("mixkern.search.grid.line", "mixkern.search.SVCSearch"),
        SLIP,
        "The printed formula has slope plus one. The text is followed, which agrees with Keerthi and Lin: "
        "gamma = C_linear / (2 C).",
        (
            "tests/search/test_grid.py::test_the_line_against_its_formula",
            "tests/search/test_grid.py::test_the_line_has_a_slope_of_minus_one",
            "figure 8",
        ),
    ),
    PaperItem(
        "This line finds good settings for RWM as it does for RBF.",
        "3.3, figures 9 and 10",
        ("mixkern.search.SVCSearch", "mixkern_study.plot.paper.search_maps"),
        AS_WRITTEN,
        "",
        ("tests/search/test_svc.py::test_a_line_loses_at_most_a_point_to_a_grid", "figure 9", "figure 10"),
    ),
)

CATEGORIES = (
    PaperItem(
        "With categories, the exponent is -gamma (alpha distance^2 + beta m^2), where m columns differ.",
        "3.4",
        ("mixkern.kernels.DistanceKernel",),
        EXACT,
        "",
        (
            "tests/kernels/test_base.py::test_categories_are_counted_and_squared",
            "tests/kernels/test_base.py::test_any_gamma_alpha_and_beta_is_a_step_from_the_separation",
        ),
    ),
    PaperItem(
        "With alpha = beta = 1 and identity covariances, this behaves like RBF on binary columns.",
        "3.4",
        ("mixkern.kernels.RBFKernel",),
        SLIP,
        "Binary columns have the squared distance 2 m, not m^2: the formula is followed, and not this sentence. With "
        "one categorical column and beta = 2 both agree.",
        (
            "study/tests/test_items.py::test_squared_counts_are_no_distances_of_binary_columns",
            "tests/kernels/test_rbf.py::test_one_categorical_column_with_beta_two_is_rbf_on_one_hot_columns",
        ),
    ),
    PaperItem(
        "The RWM distance is a function of the continuous columns x'.",
        "3.4",
        ("mixkern.density.Mixture.with_common_categories", "mixkern_study.protocol.Responsibilities"),
        READING,
        "responsibilities='all' computes responsibilities from all columns, 'numbers' from continuous ones alone. Both "
        "are run on the four sets with columns of both kinds.",
        (
            "tests/kernels/test_mixture.py::test_the_paper_s_distance_takes_responsibilities_from_numbers_alone",
            "tests/density/test_mixture.py::test_common_categories_leave_responsibilities_to_the_numbers",
            "study/tests/test_evaluation.py::test_responsibilities_from_numbers_change_rwm_alone",
            "table responsibilities",
        ),
    ),
    PaperItem(
        "All kernels treat categories in the same way.",
        "4.2.1",
        ("mixkern.kernels.DistanceKernel", "mixkern.kernels.LaplacianKernel"),
        AS_WRITTEN,
        "",
        (
            "tests/kernels/test_mixture.py::test_identity_covariances_with_categories_give_the_mixed_rbf_kernel",
            "tests/kernels/test_laplacian.py::test_categories_count_in_the_graph",
        ),
    ),
    PaperItem(
        "alpha and beta from 0 to 1 in steps of 0.1.",
        "4.2.1",
        ("mixkern_study.protocol.Protocol.weights", "mixkern_study.evaluation.LAP_SHAPES"),
        DIFFERS,
        "All 120 pairs are tried with every C and gamma, for RBF, and for RWM and GMM with the density found without "
        "labels. LAP has four pairs, since each has a graph of its own; the ceiling's other densities have four values "
        "each. Above 100 labels, all are rated on 100 rows, the best 200 of each reading on 300, the best 12 on all.",
        (
            "study/tests/test_protocol.py::test_the_papers_grids",
            "study/tests/test_evaluation.py::test_mixed_tables_try_all_alpha_and_beta_with_each_cost_and_gamma",
            "study/tests/test_evaluation.py::test_the_papers_grid_of_a_mixed_table_is_tried_in_full",
            "study/tests/test_evaluation.py::test_labels_of_many_rows_are_rated_on_some_first_where_weights_are_swept",
            "study/tests/test_evaluation.py::test_a_sweep_has_three_stages",
        ),
    ),
)

METHOD_ITEMS = (*DENSITY, *KERNELS, *CATEGORIES)
