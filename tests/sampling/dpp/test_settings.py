import pytest
import torch

from nodewise.core.errors import InputError
from nodewise.sampling.dpp.kernels import gaussian_kernel, linear_kernel, marginal_kernel
from nodewise.sampling.dpp.settings import DppSettings, fit_scale, similarity


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bandwidth": 0.0}, "bandwidth must be positive.*got 0"),
        ({"bandwidth": -1.0}, "bandwidth must be positive.*got -1"),
        ({"size": 0.0}, "size must be positive.*got 0"),
        ({"size": -3.0}, "size must be positive.*got -3"),
        ({"law": "fixed"}, 'the law "fixed" needs the number of items'),
        ({"law": "greedy"}, 'the law "greedy" needs the number of items'),
        ({"draws": 0}, "draws must be 1 to 16; got 0"),
        ({"draws": 17}, "draws must be 1 to 16; got 17"),
    ],
)
def test_bad_values_are_refused_with_the_remedy(values: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DppSettings(**values)


def test_what_is_not_said_is_the_shared_law_with_four_draws() -> None:
    assert DppSettings() == DppSettings(law="shared", kernel="gaussian", bandwidth=None, size=None, draws=4)


@pytest.mark.parametrize("values", [{"draws": 1}, {"draws": 16}, {"size": 0.5}, {"bandwidth": 0.5}])
def test_the_ends_of_what_is_allowed_are_allowed(values: dict) -> None:
    (name, value), *_ = values.items()
    assert getattr(DppSettings(**values), name) == value


def test_the_kernel_and_its_bandwidth_are_used(points) -> None:
    x = points(9, 3)
    assert torch.equal(similarity(x, DppSettings(kernel="linear")), linear_kernel(x))
    assert torch.equal(similarity(x, DppSettings(bandwidth=0.7)), gaussian_kernel(x, 0.7))
    assert torch.equal(similarity(x, DppSettings()), gaussian_kernel(x))


@pytest.mark.parametrize("law", ["shared", "per_node"])
def test_the_scale_gives_the_size(points, law: str) -> None:
    x = points(30, 3)
    scale = fit_scale(x, DppSettings(law=law, size=6.5))
    assert scale is not None
    assert marginal_kernel(scale * gaussian_kernel(x)).trace().item() == pytest.approx(6.5)


def test_laws_without_an_expected_size_have_no_scale(points) -> None:
    x = points(30, 3)
    assert fit_scale(x, DppSettings()) is None
    assert fit_scale(x, DppSettings(law="literal", size=5.0)) is None
    assert fit_scale(x, DppSettings(law="fixed", size=5.0)) is None
