from pathlib import Path

import pytest

from nodewise.cli.main import main
from nodewise.core import config
from nodewise.methods.settings import Settings


def test_the_ablation_of_the_bundled_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = config.override(Settings(), ["encoder.dimension=8", "training.steps=1", "training.batch_size=100"])
    (tmp_path / "plain").mkdir()
    for name in ("citeseer.toml", "plain/citeseer.toml"):
        (tmp_path / name).write_text(config.to_toml(small))
    given = ["reproduce", "ablation", "--configs", str(tmp_path), "--datasets", "citeseer", "--runs", "1"]
    assert main([*given, "-o", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "| variant | citeseer |" in shown
    assert "| with DPP |" in shown
    assert (tmp_path / "out" / "citeseer.csv").is_file()


@pytest.mark.parametrize(
    ("name", "said"), [("table2", "not part of this version"), ("ablatoin", "did you mean 'ablation'")]
)
def test_other_experiments(name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", name, "-o", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_missing_configs_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "ablation", "--configs", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    assert "cora.toml" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_committed_configs_can_be_read(name: str) -> None:
    root = Path(__file__).resolve().parents[2] / "configs"
    for path in (root / f"{name}.toml", root / "plain" / f"{name}.toml"):
        assert config.load_toml(Settings, path).training.steps > 0
    assert config.load_toml(Settings, root / f"{name}.toml").sampling.collision
    assert not config.load_toml(Settings, root / "plain" / f"{name}.toml").sampling.collision
