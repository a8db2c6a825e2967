"""Settings: what is accepted, what is refused and in which words, and that nothing is lost in writing."""

from __future__ import annotations

import copy
import math
import pickle
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.core import config
from nodewise.core.config import MOST, Checked, NotNegative, Range, Share, Size, from_mapping
from nodewise.core.errors import InputError
from nodewise.core.keywords import keyword_values, path_of, with_assignments, with_keywords
from nodewise.core.parts import Part, Unloaded
from nodewise.core.registry import FileText, Registry


@dataclass(frozen=True)
class Sampling:
    alpha: float = 0.9
    draws: int = 4
    dpp: bool = True
    law: Literal["shared", "literal", "per_node"] = "shared"
    size: int | None = None
    bandwidth: Optional[float] = 1.5  # noqa: UP045  # both spellings of optional must work

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise InputError(f"sampling.alpha is {self.alpha}; it must be above 0")


@dataclass(frozen=True)
class Training:
    batch: int = 1000
    hidden: tuple[int, ...] = (512, 512)
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise InputError(f"batch is {self.batch}; it must be above 0")


@dataclass(frozen=True)
class Settings:
    name: str = "run"
    sampling: Sampling = field(default_factory=Sampling)
    training: Training = field(default_factory=Training)


@dataclass(frozen=True)
class Needy:
    seed: int


def load(mapping: dict[str, object]) -> Settings:
    return config.from_mapping(Settings, mapping, "c.toml")


def refusal(mapping: dict[str, object]) -> str:
    with pytest.raises(InputError) as caught:
        load(mapping)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@dataclass(frozen=True)
class Blocks:
    sizes: tuple[int, ...] = (8,)


@dataclass(frozen=True)
class Both:
    sampling: Sampling = field(default_factory=Sampling)
    blocks: Blocks = field(default_factory=Blocks)


def test_a_plural_here_is_nearer_than_the_same_word_elsewhere() -> None:
    with pytest.raises(InputError, match=r"did you mean 'blocks\.sizes'"):
        config.from_mapping(Both, {"blocks": {"size": 4}}, "c.toml")
    with pytest.raises(InputError, match=r"did you mean 'sampling\.alpha'"):
        config.from_mapping(Both, {"blocks": {"alpha": 4}}, "c.toml")


def test_an_empty_mapping_gives_the_defaults() -> None:
    assert load({}) == Settings()


def test_given_values_replace_defaults_and_the_rest_stays() -> None:
    settings = load({"name": "x", "sampling": {"alpha": 0.5, "dpp": False}, "training": {"sampling": {"draws": 2}}})
    assert settings.name == "x"
    assert settings.sampling == Sampling(alpha=0.5, dpp=False)
    assert settings.training == Training(sampling=Sampling(draws=2))


def test_a_whole_number_is_a_number() -> None:
    alpha = load({"sampling": {"alpha": 2}}).sampling.alpha
    assert alpha == 2.0
    assert type(alpha) is float


def test_lists_become_tuples() -> None:
    assert load({"training": {"hidden": [64]}}).training.hidden == (64,)
    assert load({"training": {"hidden": []}}).training.hidden == ()


@pytest.mark.parametrize("off", [None, "none"])
def test_an_optional_setting_can_be_switched_off(off: object) -> None:
    sampling = load({"sampling": {"bandwidth": off, "size": 7}}).sampling
    assert sampling.bandwidth is None
    assert sampling.size == 7


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"naem": "x"}, "c.toml: unknown key 'naem'; did you mean 'name'?"),
        (
            {"sampling": {"alphaa": 1.0}},
            "c.toml: unknown key 'sampling.alphaa'; did you mean 'sampling.alpha'?",
        ),
        ({"dpp": False}, "c.toml: unknown key 'dpp'; did you mean 'sampling.dpp'?"),
        (
            {"training": {"batches": 1}},
            "c.toml: unknown key 'training.batches'; did you mean 'training.batch'?",
        ),
        ({"qqq": 1}, "c.toml: unknown key 'qqq'; choose from name, sampling, training"),
        ({"name": 3}, "c.toml: 'name' must be text, not 3"),
        ({"sampling": {"draws": 1.5}}, "c.toml: 'sampling.draws' must be a whole number, not 1.5"),
        ({"sampling": {"draws": True}}, "c.toml: 'sampling.draws' must be a whole number, not true"),
        ({"sampling": {"alpha": False}}, "c.toml: 'sampling.alpha' must be a number, not false"),
        ({"sampling": {"alpha": "high"}}, "c.toml: 'sampling.alpha' must be a number, not the text 'high'"),
        ({"sampling": {"alpha": 10**400}}, "c.toml: 'sampling.alpha' is too large for a number"),
        ({"sampling": {"dpp": 1}}, "c.toml: 'sampling.dpp' must be true or false, not 1"),
        ({"sampling": {"size": "big"}}, "c.toml: 'sampling.size' must be a whole number, not the text 'big'"),
        ({"sampling": {"size": {}}}, "c.toml: 'sampling.size' must be a whole number, not a section"),
        (
            {"sampling": {"law": "shard"}},
            "c.toml: 'sampling.law' cannot be the text 'shard'; did you mean 'shared'?",
        ),
        (
            {"sampling": {"law": 3}},
            "c.toml: 'sampling.law' cannot be 3; choose from shared, literal, per_node",
        ),
        ({"training": {"hidden": 64}}, "c.toml: 'training.hidden' must be a list, not 64"),
        (
            {"training": {"hidden": [64, "x"]}},
            "c.toml: 'training.hidden[1]' must be a whole number, not the text 'x'",
        ),
        ({"sampling": 3}, "c.toml: 'sampling' is a section of settings, not 3"),
        ({"sampling": {"alpha": -1}}, "c.toml: sampling.alpha is -1.0; it must be above 0"),
        ({"training": {"batch": 0}}, "c.toml: [training] batch is 0; it must be above 0"),
        ({"name": "x", "sampling": ["a"]}, "c.toml: 'sampling' is a section of settings, not a list"),
    ],
)
def test_a_bad_value_is_refused_by_name(mapping: dict[str, object], message: str) -> None:
    assert refusal(mapping) == message


def test_a_long_text_is_cut_in_the_message() -> None:
    assert len(refusal({"sampling": {"alpha": "x" * 10_000}})) < 150


def test_a_literal_of_numbers_does_not_take_true_for_one() -> None:
    @dataclass(frozen=True)
    class Layers:
        count: Literal[1, 2] = 1

    globals()["Layers"] = Layers  # where get_type_hints looks
    assert config.from_mapping(Layers, {"count": 2}, "c.toml").count == 2
    with pytest.raises(InputError, match="'count' cannot be true"):
        config.from_mapping(Layers, {"count": True}, "c.toml")


def test_a_setting_without_a_default_must_be_given() -> None:
    assert config.from_mapping(Needy, {"seed": 3}, "c.toml") == Needy(3)
    with pytest.raises(InputError, match=r"^c\.toml: the key 'seed' is missing$"):
        config.from_mapping(Needy, {}, "c.toml")


def test_keys_lists_every_dotted_name() -> None:
    assert list(config.keys(Training))[:4] == ["batch", "hidden", "sampling", "sampling.alpha"]


class TestFiles:
    def test_a_file_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "c.toml"
        path.write_text('name = "é"\n[sampling]\nalpha = 2\n', encoding="utf-8")
        assert config.load_toml(Settings, path) == Settings(name="é", sampling=Sampling(alpha=2.0))

    def test_an_error_names_the_file(self, tmp_path: Path) -> None:
        path = tmp_path / "c.toml"
        path.write_text("[sampling]\nalphaa = 2\n")
        with pytest.raises(InputError, match=f"^{path}: unknown key 'sampling.alphaa'"):
            config.load_toml(Settings, path)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"[sampling]\nalpha = = 2\n", "not valid TOML: .*line 2, column"),
            (b"name = 'a'\nname = 'b'\n", "not valid TOML: .*line 2"),
            (b"\x89PNG\xff\xfe", "not a TOML file: byte 0 is not UTF-8"),
            (b"a = " + b"[" * 100_000, "not valid TOML"),
            (b"name = " + b"9" * 5000, "not valid TOML"),
        ],
    )
    def test_what_is_not_toml_is_refused(self, tmp_path: Path, content: bytes, message: str) -> None:
        path = tmp_path / "c.toml"
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"^{path}: {message}"):
            config.load_toml(Settings, path)

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"c\.toml: no such file") as refused:
            config.load_toml(Settings, tmp_path / "c.toml")
        assert refused.value.code == "missing-file"

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is a folder") as refused:
            config.load_toml(Settings, tmp_path)
        assert refused.value.code == "not-a-plain-file"


class TestOverride:
    @pytest.mark.parametrize(
        ("assignment", "expected"),
        [
            ("sampling.alpha=0.5", Settings(sampling=Sampling(alpha=0.5))),
            ("sampling.alpha = 3", Settings(sampling=Sampling(alpha=3.0))),
            ("sampling.dpp=false", Settings(sampling=Sampling(dpp=False))),
            ("sampling.law=literal", Settings(sampling=Sampling(law="literal"))),
            ("sampling.bandwidth=none", Settings(sampling=Sampling(bandwidth=None))),
            ("training.hidden=[1, 2]", Settings(training=Training(hidden=(1, 2)))),
            ("training.sampling.draws=9", Settings(training=Training(sampling=Sampling(draws=9)))),
            ("name=a=b", Settings(name="a=b")),
            ("name='3'", Settings(name="3")),
            ("name=", Settings(name="")),
            ("name=1\nsampling = 2", Settings(name="1\nsampling = 2")),
        ],
    )
    def test_one_assignment(self, assignment: str, expected: Settings) -> None:
        assert config.override(Settings(), [assignment]) == expected

    def test_later_assignments_win_and_others_stay(self) -> None:
        before = Settings(name="kept", sampling=Sampling(size=5))
        after = config.override(before, ["sampling.alpha=1", "sampling.alpha=2", "training.batch=7"])
        assert after == Settings("kept", Sampling(alpha=2.0, size=5), Training(batch=7))
        assert before.sampling.alpha == 0.9

    def test_a_section_changes_only_what_it_names(self) -> None:
        before = Settings(sampling=Sampling(size=5), training=Training(batch=7, sampling=Sampling(draws=9)))
        after = config.override(before, ["training={hidden=[3], sampling={alpha=2}}", "sampling={}"])
        assert after == Settings(sampling=Sampling(size=5), training=Training(7, (3,), Sampling(alpha=2.0, draws=9)))

    @pytest.mark.parametrize(
        ("assignment", "message"),
        [
            ("sampling.alpha", "--set: expected key=value, not 'sampling.alpha'"),
            ("=3", "--set: expected key=value, not '=3'"),
            ("sampling.alphaa=1", "--set: unknown key 'sampling.alphaa'; did you mean 'sampling.alpha'?"),
            ("samplng.alpha=1", "--set: unknown key 'samplng'; did you mean 'sampling'?"),
            ("alpha=1", "--set: unknown key 'alpha'; did you mean 'sampling.alpha'?"),
            ("sampling.alpha.x=1", "--set: 'sampling.alpha' is a value, not a section"),
            ("sampling=1", "--set: 'sampling' is a section of settings, not 1"),
            ("sampling.dpp=no", "--set: 'sampling.dpp' must be true or false, not the text 'no'"),
            ("sampling.alpha=0", "--set: sampling.alpha is 0.0; it must be above 0"),
        ],
    )
    def test_a_bad_assignment_is_refused(self, assignment: str, message: str) -> None:
        with pytest.raises(InputError) as caught:
            config.override(Settings(), [assignment])
        assert str(caught.value) == message


class TestRoundTrip:
    def test_a_mapping_is_plain_and_comes_back(self) -> None:
        settings = Settings(training=Training(hidden=(1, 2, 3)))
        mapping = config.to_mapping(settings)
        assert mapping["training"]["hidden"] == [1, 2, 3]
        assert mapping["sampling"]["size"] is None
        assert load(mapping) == settings

    def test_toml_is_readable(self) -> None:
        assert config.to_toml(Training()) == (
            "batch = 1000\nhidden = [512, 512]\n\n[sampling]\nalpha = 0.9\ndraws = 4\ndpp = true\n"
            'law = "shared"\nsize = "none"\nbandwidth = 1.5\n'
        )

    @given(
        name=st.text(st.characters(exclude_categories=["Cs"])),
        alpha=st.floats(min_value=0, exclude_min=True, allow_nan=False),
        bandwidth=st.none() | st.floats(allow_nan=False),
        draws=st.integers(-(2**70), 2**70),
        hidden=st.lists(st.integers()).map(tuple),
        dpp=st.booleans(),
    )
    def test_any_settings_come_back_from_toml(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        name: str,
        alpha: float,
        bandwidth: float | None,
        draws: int,
        hidden: tuple[int, ...],
        dpp: bool,
    ) -> None:
        settings = Settings(name, Sampling(alpha, draws, dpp, bandwidth=bandwidth), Training(hidden=hidden))
        path = tmp_path_factory.getbasetemp() / "round_trip.toml"
        path.write_text(config.to_toml(settings), encoding="utf-8", newline="")
        assert config.load_toml(Settings, path) == settings


SHAPES: Registry[Any] = Registry("shape")


class Shape(Part):
    """A section that is one of several classes."""

    key: ClassVar[str] = "shape"
    registry: ClassVar[Registry[Any]] = SHAPES

    @classmethod
    def upgraded(cls, section: Any) -> Any:
        return {cls.key: "circle", "radius": section["size"]} if "size" in section else section


@dataclass(frozen=True)
class Pen:
    renamed: ClassVar[dict[str, str]] = {"colour": "color"}

    color: str = "black"
    width: float = 1.0


@SHAPES.register("circle")
class Circle(Shape):
    radius: float = 1.0
    pen: Pen = field(default_factory=Pen)

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise InputError(f"radius is {self.radius:g}; it must be above 0")


@SHAPES.register("box")
class Box(Shape):
    width: float = 2.0
    height: int = 3


class Nameless(Shape):
    """Nobody registered it."""

    sides: int = 5


class Failing(Shape):
    def __post_init__(self) -> None:
        raise RuntimeError("two\nlines")


@dataclass(frozen=True)
class Drawing:
    title: str = ""
    width: float = 100.0
    shape: Shape = field(default_factory=Circle)
    frame: Shape = field(default_factory=Box)


def drawing(mapping: dict[str, object]) -> Drawing:
    return config.from_mapping(Drawing, mapping, "c.toml")


def same(one: Drawing, other: Drawing) -> bool:
    return one == other and config.to_mapping(one) == config.to_mapping(other)


class TestParts:
    def test_an_object_a_name_a_section_and_a_file_are_equal(self, tmp_path: Path) -> None:
        wanted = Drawing(shape=Box(height=7))
        path = tmp_path / "c.toml"
        path.write_text('[shape]\nshape = "box"\nheight = 7\n')
        for found in (
            config.load_toml(Drawing, path),
            drawing({"shape": {"shape": "box", "height": 7}}),
            config.override(Drawing(), ["shape.shape=box", "shape.height=7"]),
            config.override(Drawing(), ["shape.height=7", "shape.shape=box"]),
            config.override(Drawing(), ["shape={shape='box', height=7}"]),
            config.changed(Drawing(), {("shape",): Box(height=7)}, "here"),
            config.changed(Drawing(), {("shape",): {"shape": "box", "height": 7}}, "here"),
        ):
            assert same(found, wanted)
        for found in (config.override(Drawing(), ["shape=box"]), drawing({"shape": "box"})):
            assert same(found, Drawing(shape=Box()))

    def test_what_is_not_said_is_the_default(self) -> None:
        assert drawing({"shape": {"radius": 2}}) == Drawing(shape=Circle(radius=2.0))
        assert drawing({"frame": {"height": 1}}) == Drawing(frame=Box(height=1))

    def test_it_is_written_with_its_name_and_comes_back(self, tmp_path: Path) -> None:
        wanted = Drawing("a", shape=Box(height=7), frame=Circle(2.0, Pen("red")))
        text = config.to_toml(wanted)
        assert f'[shape]\nshape = "{__name__}:Box"\nwidth = 2.0\nheight = 7\n' in text
        assert f'[frame]\nshape = "{__name__}:Circle"\nradius = 2.0\n\n[frame.pen]\ncolor = "red"' in text
        path = tmp_path / "c.toml"
        path.write_text(text)
        assert same(config.load_toml(Drawing, path), wanted)

    def test_another_part_drops_the_settings_of_the_one_before(self) -> None:
        before = Drawing("kept", shape=Circle(5.0, Pen("red")), frame=Box(height=9))
        assert config.override(before, ["shape.shape=box"]) == Drawing("kept", shape=Box(), frame=Box(height=9))
        assert config.override(before, ["shape={shape='box'}"]).shape == Box()

    def test_the_same_part_named_again_keeps_them(self) -> None:
        before = Drawing(shape=Circle(5.0, Pen("red")))
        assert config.override(before, ["shape.shape=circle"]) == before
        assert config.override(before, ["shape.shape=circle", "shape.pen.width=3"]).shape == Circle(
            5.0, Pen("red", 3.0)
        )
        assert config.override(before, ["shape={pen={width=3}}"]).shape == Circle(5.0, Pen("red", 3.0))

    def test_an_object_without_a_registered_name_is_changed_like_others(self) -> None:
        before = Drawing(shape=Nameless(sides=6))
        assert config.override(before, ["title=x"]) == Drawing("x", shape=Nameless(sides=6))
        assert config.override(before, ["shape.sides=7"]).shape == Nameless(sides=7)
        assert config.to_mapping(before)["shape"] == {"shape": f"{__name__}:Nameless", "sides": 6}

    @pytest.mark.parametrize(
        ("assignments", "message"),
        [
            (["shape.shape=box", "shape.heightt=1"], "unknown key 'shape.heightt'; did you mean 'shape.height'?"),
            (
                ["shape.shape=box", "shape.radius=1"],
                "unknown key 'shape.radius'; did you mean 'shape.width'?",
            ),
            (["shape.color=red"], "unknown key 'shape.color'; did you mean 'shape.pen.color'?"),
            (["shape.height=1"], "unknown key 'shape.height'; did you mean 'frame.height'?"),
            (["shape.shape=bxo"], "unknown shape 'bxo'; did you mean 'box'?"),
            (["shape.shape=3"], "'shape.shape' must be text, not 3"),
            (["shape=3"], "'shape' is a section of settings, not 3"),
            (["shape.radius=0"], "[shape] radius is 0; it must be above 0"),
            (["frame.shape=circle", "frame.radius=x"], "'frame.radius' must be a number, not the text 'x'"),
            (
                [f"shape.shape={__name__}:Pen"],
                f"shape {__name__}:Pen is not a class derived from {__name__}.Shape, but <class '{__name__}.Pen'>",
            ),
        ],
    )
    def test_a_bad_value_is_refused_by_name(self, assignments: list[str], message: str) -> None:
        with pytest.raises(InputError) as caught:
            config.override(Drawing(), assignments)
        assert str(caught.value) == f"--set: {message}"

    def test_what_somebody_elses_class_raises_is_told_in_one_line_with_its_place(self) -> None:
        with pytest.raises(InputError) as caught:
            config.override(Drawing(), [f"shape.shape={__name__}:Failing"])
        assert re.fullmatch(
            rf"--set: {__name__}:Failing failed at test_config.py, line \d+: RuntimeError: two lines", str(caught.value)
        )

    def test_settings_of_an_earlier_version_are_read(self) -> None:
        assert drawing({"shape": {"size": 4}}).shape == Circle(4.0)
        assert drawing({"shape": {"pen": {"colour": "red"}}}).shape == Circle(pen=Pen("red"))
        assert config.override(Drawing(), ["shape.pen.color=red"]).shape == Circle(pen=Pen("red"))
        assert "colour" not in config.to_toml(Drawing())

    def test_keys_are_those_of_the_default(self) -> None:
        assert [key for key in config.keys(Drawing) if key.startswith("shape")] == [
            *("shape", "shape.shape", "shape.radius", "shape.pen", "shape.pen.color", "shape.pen.width"),
        ]


class TestUnloaded:
    NAME = f"{__name__}:Nameless"

    def test_a_class_that_only_a_file_names_is_kept_and_refused_when_used(self) -> None:
        found = drawing({"title": "a", "shape": {"shape": self.NAME, "sides": 6, "odd": [1]}})
        assert isinstance(found.shape, Unloaded)
        assert found.shape.name == self.NAME
        assert isinstance(found.shape.name, FileText)
        assert config.to_mapping(found)["shape"] == {"shape": self.NAME, "sides": 6, "odd": [1]}
        for use in (found.shape.load, lambda: found.shape.sides, lambda: found.shape.build(3)):
            with pytest.raises(InputError, match="would load code"):
                use()

    def test_it_stays_so_through_changes_copies_and_files(self, tmp_path: Path) -> None:
        found = drawing({"shape": {"shape": self.NAME, "sides": 6}})
        path = tmp_path / "c.toml"
        path.write_text(config.to_toml(found))
        for again in (
            config.override(found, ["title=b"]),
            config.override(found, ["shape.sides=7"]),
            copy.deepcopy(found),
            pickle.loads(pickle.dumps(found)),
            config.load_toml(Drawing, path),
        ):
            assert isinstance(again.shape, Unloaded)
            assert isinstance(again.shape.name, FileText)

    def test_whoever_types_its_name_loads_it_with_the_files_settings(self) -> None:
        found = drawing({"shape": {"shape": self.NAME, "sides": 6}})
        assert config.override(found, [f"shape.shape={self.NAME}"]).shape == Nameless(sides=6)
        assert config.override(found, ["shape.shape=box"]).shape == Box()


class TestKeywords:
    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("title", ("title",)),
            ("radius", ("shape", "radius")),
            ("height", ("frame", "height")),
            ("color", ("shape", "pen", "color")),
            ("pen", ("shape", "pen")),
            ("shape", ("shape",)),
            ("width", ("width",)),  # the highest of three
            ("frame_width", ("frame", "width")),
            ("shape_pen_width", ("shape", "pen", "width")),
            ("frame_shape", ("frame", "shape")),
        ],
    )
    def test_a_keyword_means_the_highest_setting_of_its_name(self, name: str, path: tuple[str, ...]) -> None:
        assert path_of(Drawing(), name) == path

    def test_one_that_means_several_names_them(self) -> None:
        with pytest.raises(
            InputError, match=r"^'radius' is the name of several settings; write shape_radius or frame_ra"
        ):
            path_of(Drawing(frame=Circle()), "radius")

    def test_an_unknown_one_has_a_suggestion(self) -> None:
        with pytest.raises(InputError, match=r"^there is no setting 'raduis'; did you mean 'radius'\?$"):
            path_of(Drawing(), "raduis")
        with pytest.raises(InputError, match="there is no setting 'sides'"):
            path_of(Drawing(), "sides")

    def test_values_by_keyword(self) -> None:
        assert with_keywords(Drawing(), {"radius": 3, "title": "a"}, "f") == Drawing("a", shape=Circle(3.0))
        for chosen in ({"shape": Box()}, {"shape": "box"}, {"shape_shape": "box"}, {"shape": {"shape": "box"}}):
            found = with_keywords(Drawing(frame=Circle()), {"height": 7, **chosen}, "f")
            assert found == Drawing(shape=Box(height=7), frame=Circle()), chosen
        with pytest.raises(InputError, match=r"^f: \[shape\] radius is -1"):
            with_keywords(Drawing(), {"radius": -1}, "f")

    def test_a_bare_name_in_the_shell_means_what_the_keyword_means(self) -> None:
        assert with_assignments(Drawing(), ["radius=3", "title=a"]) == Drawing("a", shape=Circle(3.0))
        for chosen in ("shape=box", "shape.shape=box", "shape_shape=box"):
            found = with_assignments(Drawing(frame=Circle()), ["height=7", chosen])
            assert found == Drawing(shape=Box(height=7), frame=Circle()), chosen
        with pytest.raises(InputError, match=r"^--set: there is no setting 'raduis'; did you mean 'radius'\?$"):
            with_assignments(Drawing(), ["raduis=1"])
        with pytest.raises(InputError, match=r"^--set: unknown key 'shape.raduis'; did you mean 'shape.radius'\?$"):
            with_assignments(Drawing(), ["shape.raduis=1"])

    def test_every_setting_by_its_shortest_keyword(self) -> None:
        found = keyword_values(Drawing())
        assert found == {
            "title": "",
            "width": 100.0,
            "shape_shape": f"{__name__}:Circle",
            "radius": 1.0,
            "color": "black",
            "shape_pen_width": 1.0,
            "frame_shape": f"{__name__}:Box",
            "frame_width": 2.0,
            "height": 3,
        }
        assert with_keywords(Drawing(), found, "f") == Drawing()


@dataclass(frozen=True)
class Bounded(Checked):
    share: Share = 1
    rate: NotNegative = MOST


@dataclass(frozen=True)
class Named(Bounded, section="training"):
    pass


class TestRanges:
    def test_bounds_are_inclusive(self) -> None:
        assert Bounded(share=0, rate=0) != Bounded(share=1, rate=MOST)

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("rate", -1, "rate is -1; it must be at least 0"),
            ("share", 1.5, "share is 1.5; it must be at most 1"),
            ("share", math.nan, "share is nan; it must be at least 0"),
            ("rate", math.inf, "rate is inf; it must be at most 10,000,000"),
            ("rate", 10**400, f"rate is {10**400}; it must be at most 10,000,000"),
        ],
    )
    def test_what_is_out_of_bounds_is_named(self, name: str, value: float, message: str) -> None:
        for kind, section in ((Bounded, ""), (Named, "training.")):
            with pytest.raises(InputError) as caught:
                kind(**{name: value})
            assert str(caught.value) == section + message


@dataclass(frozen=True)
class Ranged(Checked):
    size: Size = 4
    rate: Annotated[float, Range(0.5, 2)] = 1.0


@dataclass(frozen=True)
class Wider(Ranged):
    size: int = 8


@dataclass(frozen=True)
class Higher(Ranged, rate=1.5):
    third: int = 3


class TestAnnotatedRanges:
    def test_another_default_of_what_is_inherited(self) -> None:
        assert Higher() == Higher(size=4, rate=1.5, third=3)
        assert [each.name for each in fields(Higher)] == ["size", "rate", "third"]
        assert Ranged().rate == 1.0
        with pytest.raises(InputError, match=r"^rate is 3; it must be at most 2"):
            Higher(rate=3)
        with pytest.raises(TypeError, match="Wrong inherits no setting speed"):
            type("Wrong", (Ranged,), {}, speed=3)

    @pytest.mark.parametrize("wrong", [{"size": 0}, {"rate": 0.4}, {"rate": float("nan")}])
    def test_a_value_outside_is_named_also_where_only_the_default_changed(self, wrong: dict[str, float]) -> None:
        (name,) = wrong
        for kind in (Ranged, Wider):
            with pytest.raises(InputError, match=f"^{name} is ") as caught:
                kind(**wrong)  # type: ignore[arg-type]
            assert caught.value.code == "bad-setting"

    def test_the_bounds_are_allowed_and_files_are_read_as_before(self) -> None:
        assert from_mapping(Wider, {"size": 1, "rate": 2}, "test") == Wider(size=1, rate=2.0)
