import pytest
import torch
from tests.training.test_step import batches_of, learner

from nodewise.core.errors import NodewiseError
from nodewise.training.batches import EarlyStopping
from nodewise.training.health import LossGuard
from nodewise.training.loop import TrainingState
from nodewise.training.stepper import Stepper


def training(patience: int = 2) -> tuple[Stepper, TrainingState]:
    one = learner("training.learning_rate=0.05")
    stepper = Stepper(one)
    stopping = EarlyStopping(one.encoder, 3, patience) if patience else None
    return stepper, TrainingState(one.encoder, stepper.optimizer, LossGuard(one), stopping)


@pytest.mark.parametrize("patience", [0, 2])
@pytest.mark.parametrize("steps", [0, 3])
def test_a_copy_goes_on_like_the_original(patience: int, steps: int) -> None:
    (stepper, state), (other, copy) = training(patience), training(patience)
    batches = batches_of(stepper.learner)
    for step in range(steps):
        if state.stopping is not None:
            state.stopping.look(torch.tensor([3.0 - step, 1.0, 2.0]))
        loss, _ = stepper(batches.at(step), step)
        state.guard.note(loss, step)
    copy.load({name: tensor.detach().clone() for name, tensor in state.tensors().items()})
    for step in range(steps, steps + 2):
        stepper(batches.at(step), step)
        other(batches.at(step), step)
    for one, both in ((state, copy), (copy, state)):
        assert one.tensors().keys() == both.tensors().keys()
        assert all(torch.equal(value, both.tensors()[name]) for name, value in one.tensors().items())
    if state.stopping is not None and copy.stopping is not None:
        looks = [torch.tensor([0.1, 5.0, 5.0])] * 2
        assert [state.stopping.look(each) for each in looks] == [copy.stopping.look(each) for each in looks]
        state.stopping.restore()
        copy.stopping.restore()
        assert all(map(torch.equal, state.encoder.parameters(), copy.encoder.parameters()))


def test_what_is_not_finite_is_no_state() -> None:
    _, state = training()
    state.guard.note(torch.tensor([1.0, float("nan"), 1.0]), 7)
    with pytest.raises(NodewiseError, match="step 7"):
        state.tensors()
