import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nodewise.core.errors import InputError
from nodewise.read.columns import SOURCE_NAMES, TARGET_NAMES
from nodewise.read.edge_columns import NamedColumns, plan_edges
from nodewise.read.edgelist import read_edge_list
from nodewise.read.formats import format_of, open_columns


def opened(folder, content):
    path = folder / ("e.csv" if isinstance(content, str) else "e.parquet")
    if isinstance(content, str):
        path.write_text(content)
    else:
        pq.write_table(pa.table(content), path)
    return open_columns(path, format_of(path), (SOURCE_NAMES, TARGET_NAMES))


def pairs(edges):
    ids = edges.ids.to_list()
    return [(ids[s], ids[t]) for s, t in zip(edges.sources, edges.targets, strict=True)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\nc,a\n", [("a", "b"), ("c", "a")]),
        ("source,target\n1,2\n", [(1, 2)]),
        ("target,weight,source\n1,5,2\n", [(2, 1)]),
        ("year,From Node ID,To Node ID\n1999,a,b\n", [("a", "b")]),
        ({"u": [1], "v": [2], "since": ["x"]}, [(1, 2)]),
        ({"when": [9], "dst": ["b"], "src": ["a"]}, [("a", "b")]),
        ("head,relation,tail\n1,knows,2\n", [(1, 2)]),
        (":TYPE,:END_ID,:START_ID\nknows,2,1\n", [(1, 2)]),
        (":START_ID(P),role,:END_ID(P),:TYPE\nn1,x,n2,KNOWS\n", [("n1", "n2")]),
        ("source,from,to\nweb,1,2\n", [(1, 2)]),
        ("weight,u,v\n1,10,20\n", [(10, 20)]),
        ("u,relation,v\n1,knows,2\n", [(1, 2)]),
        (",u,v\n0,10,20\n1,20,30\n", [(10, 20), (20, 30)]),
        (",u,v\n7,10,20\n3,20,30\n", [(10, 20), (20, 30)]),
        (",u\n7,10\n3,20\n", [(7, 10), (3, 20)]),
        (",a,b\n0,10,20\n1,20,30\n0,30,40\n", [(10, 20), (20, 30), (30, 40)]),
        ("date,user,item\n2020,10,20\n2021,20,30\n", [(10, 20), (20, 30)]),
        ("subject,predicate,object\na,likes,b\n", [("a", "b")]),
        ("year,id\n1,2\n", [(1, 2)]),
        ("weight,type\n1,2\n", [(1, 2)]),
    ],
)
def test_the_ends_are_the_columns_named_so_or_the_first_two(tmp_path, content, expected):
    assert pairs(read_edge_list(opened(tmp_path, content))) == expected


def test_ends_of_two_kinds_are_asked_for(tmp_path):
    for content in ("order,customer,product\n1000,C1,P2\n1001,C2,P1\n", {"order": [1], "c": ["C"], "p": ["P"]}):
        with pytest.raises(InputError) as error:
            plan_edges(opened(tmp_path, content))
        assert error.value.code == "missing-column"
    file = opened(tmp_path, "order,customer,product\n1000,C1,P2\n")
    assert pairs(read_edge_list(file, plan_edges(file, NamedColumns("customer", "product")))) == [("C1", "P2")]


def test_triples_without_names_are_pointed_out(tmp_path):
    triples = opened(tmp_path, "a\tlikes\tb\nb\tknows\tc\n")
    assert any("say so with --source 1 --type-column 2 --target 3" in note for note in read_edge_list(triples).notes)


def test_the_user_may_name_the_columns(tmp_path):
    file = opened(tmp_path, "source,target,other\na,b,c\n")
    assert pairs(read_edge_list(file, plan_edges(file, NamedColumns("target", "other")))) == [("b", "c")]
    assert pairs(read_edge_list(file, plan_edges(file, NamedColumns("3", "1")))) == [("c", "a")]
    assert pairs(read_edge_list(file, plan_edges(file, NamedColumns(target="other")))) == [("a", "c")]
    with pytest.raises(InputError, match="both ends"):
        read_edge_list(file, plan_edges(file, NamedColumns("target", "target")))
    with pytest.raises(InputError, match="no column 'targets'; did you mean 'target'"):
        read_edge_list(file, plan_edges(file, NamedColumns("source", "targets")))
    with pytest.raises(InputError, match="which column is the target"):
        plan_edges(opened(tmp_path, "a,b\nc,d\n"), NamedColumns(source="1"))


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("a,b,2\nb,c,1\n", "e.csv: if column 3 holds weights, use them with --weight-column 3"),
        (
            "source,target,weight\na,b,0.5\n",
            "e.csv: 'weight' read as the weights of edges; --unweighted leaves them out",
        ),
        (
            "source,target,weight\na,b,1\nb,c,two\n",
            "e.csv: edges count equally, for not all values of 'weight' are numbers; "
            "--weight-column weight says which is not",
        ),
        ("source,target,year\na,b,1999\n", "e.csv: not used: year"),
        ("a,b,x\nb,c,y\n", "e.csv: not used: column 3"),
        ({"p": [1], "q": [2]}, "e.parquet: 'p' and 'q' read as the ends of edges"),
        ("a,b\n", "directions of edges ignored"),
    ],
)
def test_what_is_left_out_is_said(tmp_path, content, note):
    assert note in read_edge_list(opened(tmp_path, content)).notes


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ("a\nb\n", "one column only (line 1 is 'a')"),
        ("a:b\nb:c\n", "one column only (line 1 is 'a:b')"),
        ({"x": [1]}, "one column only (its columns are x)"),
        ("a,b\nb,\n", "line 2: 'column 2' is empty"),
        ("source,target,w\na,b,1\nb,c,-2\n", "line 3, 'w': an edge with weight -2.0"),
        ({"a": [1.5], "b": [2.5]}, "'a' is of type double, such as 1.5"),
        ({"a": [1], "b": ["1"]}, "'a' has integer ids (int64, such as 1) but 'b' has string ids"),
        ({"a": [1, None], "b": [1, 2]}, "row 2: 'a' is empty"),
    ],
)
def test_what_is_no_edge_list_is_refused(tmp_path, content, fragment):
    with pytest.raises(InputError) as error:
        read_edge_list(opened(tmp_path, content))
    assert fragment in str(error.value)
    assert "\n" not in str(error.value)


def test_a_third_column_without_a_name_removes_no_edge(tmp_path):
    assert pairs(read_edge_list(opened(tmp_path, "a,b,0\nb,c,-1\n"))) == [("a", "b"), ("b", "c")]


def test_weights_that_are_text_are_read_as_in_csv(tmp_path):
    ends = {"source": ["a", "b", "c"], "target": ["b", "c", "a"]}
    file = opened(tmp_path, ends | {"weight": ["1", "2.5", " 3"]})
    assert read_edge_list(file).weights.tolist() == [1, 2.5, 3]
    for lacking in ("", None):
        with pytest.raises(InputError, match="row 2, 'weight': an edge without a weight"):
            read_edge_list(opened(tmp_path, ends | {"weight": ["1", lacking, "3"]}))
    words = opened(tmp_path, ends | {"weight": ["1", "two", "3"]})
    assert read_edge_list(words).weights is None
    with pytest.raises(InputError, match="row 2: 'weight' holds 'two'"):
        read_edge_list(words, plan_edges(words, NamedColumns(weight="weight")))


def test_weights_are_used_if_they_are_called_so_or_asked_for(tmp_path):
    named = opened(tmp_path, "source,target,weight\na,b,0.5\nb,c,2\n")
    assert read_edge_list(named).weights.tolist() == [0.5, 2]
    plain = read_edge_list(named, plan_edges(named, unweighted=True))
    assert plain.weights is None
    assert "weights ignored: an edge is present or absent" in plain.notes
    other = opened(tmp_path, "source,target,weight,calls\na,b,1,3\nb,c,1,4\n")
    assert read_edge_list(other, plan_edges(other, NamedColumns(weight="calls"))).weights.tolist() == [3, 4]
    nameless = opened(tmp_path, "a,b,2\nb,c,1\n")
    assert read_edge_list(nameless).weights is None
    assert read_edge_list(nameless, plan_edges(nameless, NamedColumns(weight="3"))).weights.tolist() == [2, 1]
    with pytest.raises(InputError, match="an end of edges and their weight"):
        read_edge_list(other, plan_edges(other, NamedColumns(weight="target")))
    with pytest.raises(InputError) as error:
        read_edge_list(other, plan_edges(other, NamedColumns(weight="cals")))
    assert error.value.code == "missing-column"
    words = opened(tmp_path, "source,target,calls\na,b,x\n")
    with pytest.raises(InputError) as error:
        read_edge_list(words, plan_edges(words, NamedColumns(weight="calls")))
    assert error.value.code == "bad-number"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("giver,taker\na,b\nb,c\n", True),
        ("a,b\nb,c\n", False),
        ("a,b\nc,a\n", False),
        ("a,b\n", False),  # there is nowhere else
        ("1,2\n3,4\n", False),
        ("source,target\na,b\nc,d\n", False),
    ],
)
def test_a_first_line_of_ids_that_occur_nowhere_else_is_pointed_out(tmp_path, content, said):
    notes = read_edge_list(opened(tmp_path, content)).notes
    assert any("say so with --header" in note and "line 1 is" in note for note in notes) == said


def test_columns_that_the_user_names_are_looked_for_in_the_first_line(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("sender,receiver\na,b\nb,c\n")
    file = open_columns(path, "text", (SOURCE_NAMES, TARGET_NAMES), named=("sender", None))
    assert file.names == ("sender", "receiver")
    assert pairs(read_edge_list(file, plan_edges(file, NamedColumns("sender", "receiver")))) == [("a", "b"), ("b", "c")]
