import pytest
import torch

from nodewise.training.batches import Batches

SEEDS = torch.tensor([3, 9])


def batches(num_nodes: int = 103, batch_size: int = 20, held_out: int = 11, seeds: torch.Tensor = SEEDS) -> Batches:
    return Batches(seeds, num_nodes, batch_size, held_out)


def test_a_pass_visits_every_node_at_most_once_in_equal_batches() -> None:
    chosen = batches()
    assert (chosen.per_pass, chosen.size) == (5, 18)
    for number in range(3):
        steps = [chosen.at(number * 5 + place) for place in range(5)]
        assert {step.shape for step in steps} == {(2, 18)}
        for run in range(2):
            visited = torch.cat([step[run] for step in steps]).tolist()
            assert len(set(visited)) == 90
            assert set(visited) <= set(range(103))


def test_every_training_node_is_visited_in_the_long_run_and_no_held_out_one_ever() -> None:
    chosen = batches()
    assert chosen.held_out.shape == (2, 11)
    for run in range(2):
        held_out = set(chosen.held_out[run].tolist())
        visited = {node for step in range(200) for node in chosen.at(step)[run].tolist()}
        assert len(held_out) == 11
        assert visited == set(range(103)) - held_out


def test_who_sits_out_changes_from_pass_to_pass() -> None:
    chosen = batches()
    out = [
        set(range(103)) - {node for place in range(5) for node in chosen.at(5 * n + place)[0].tolist()} for n in (0, 1)
    ]
    assert out[0] != out[1]


def test_random_access_equals_sequential() -> None:
    sequential = [batches().at(step) for step in range(12)]
    asked_in_turn = batches()
    in_turn = [asked_in_turn.at(step).clone() for step in range(12)]
    asked_at_random = batches()
    for step in (7, 0, 11, 3, 3, 5, 1, 10, 2, 4, 6, 8, 9):
        assert torch.equal(asked_at_random.at(step), in_turn[step])
        assert torch.equal(sequential[step], in_turn[step])


def test_orders_differ_between_passes_and_runs() -> None:
    chosen = batches(100, 50, 0)
    assert not torch.equal(chosen.at(0)[0], chosen.at(0)[1])
    first, second = (torch.cat([chosen.at(2 * number + place)[0] for place in (0, 1)]) for number in (0, 1))
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(100))
    assert not torch.equal(first, second)


def test_a_run_in_a_stack_gets_the_batches_it_gets_alone() -> None:
    stacked, alone = batches(), batches(seeds=SEEDS[1:])
    assert torch.equal(stacked.held_out[1:], alone.held_out)
    for step in range(8):
        assert torch.equal(stacked.at(step)[1:], alone.at(step))


@pytest.mark.parametrize(("nodes", "size", "expected"), [(7, 1000, (1, 7)), (10, 10, (1, 10)), (11, 10, (2, 5))])
def test_a_batch_larger_than_the_graph_is_the_graph(nodes: int, size: int, expected: tuple[int, int]) -> None:
    chosen = batches(nodes, size, 0)
    assert (chosen.per_pass, chosen.size) == expected
    assert chosen.at(0).shape == (2, expected[1])
