import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixkern import datasets
from mixkern.kernels import RBFKernel

X, Y_CLASS = datasets.make_two_moons(n=80, random_state=0)


def test_rbf_is_scikit_learns():
    np.testing.assert_allclose(RBFKernel(0.7)(X), rbf_kernel(X, gamma=0.7), rtol=1e-10)
    ours = SVC(kernel=RBFKernel(0.7)).fit(X, Y_CLASS).decision_function(X)
    peer = SVC(kernel="rbf", gamma=0.7).fit(X, Y_CLASS).decision_function(X)
    np.testing.assert_allclose(ours, peer, atol=1e-6)


def test_one_categorical_column_with_beta_two_is_rbf_on_one_hot_columns():
    codes = np.random.RandomState(0).randint(3, size=80)
    mixed, one_hot = np.column_stack([X, codes]), np.column_stack([X, np.eye(3)[codes]])
    ours = RBFKernel(0.5, beta=2.0, n_categorical=1)(mixed)
    np.testing.assert_allclose(ours, rbf_kernel(one_hot, gamma=0.5), rtol=1e-10)


def test_rbf_is_stationary_on_numbers():
    assert RBFKernel().is_stationary()
    assert not RBFKernel(n_categorical=1).is_stationary()
