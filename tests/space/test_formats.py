import gzip
import zipfile

import numpy as np
import pytest

from mondegreen.errors import EmbeddingFormatError, InvalidParameterError, SpaceError
from mondegreen.space.vectors import readers
from mondegreen.space.vectors.build import build_space
from mondegreen.space.vectors.readers import BadRows, read_words
from mondegreen.space.vectors.source import open_vectors, sibling_word_list

WORDS = ["cold", "cool", "warm"]
ROWS = np.array([[0, 1.5], [1, -2e-3], [3, 4]], dtype=np.float32)


def read(path, *, skip=False, form=None, word_list=None, **options):
    bad = BadRows(skip=skip)
    with open_vectors(path, bad, form=form, word_list=word_list) as source:
        built = build_space(source, "test", bad=bad, **options)
    return source.format, built


def text(words=WORDS, rows=ROWS, end="\n", trailing=""):
    lines = (
        word + " " + " ".join(str(float(x)) for x in row) + trailing
        for word, row in zip(words, rows, strict=True)
    )
    return end.join(lines) + end


def binary(words=WORDS, rows=ROWS, header=None, newline=b"\n"):
    header = header or f"{len(words)} {len(rows[0])}"
    return (
        header.encode()
        + b"\n"
        + b"".join(
            word.encode() + b" " + row.astype("<f4").tobytes() + newline
            for word, row in zip(words, rows, strict=True)
        )
    )


GOOD = {
    "glove": ("glove", text().encode()),
    "glove, no last line break": ("glove", text().rstrip("\n").encode()),
    "glove, blank lines at the end": ("glove", text().encode() + b"\n\n"),
    "glove, windows": ("glove", text(end="\r\n").encode()),
    "glove, byte order mark": ("glove", b"\xef\xbb\xbf" + text().encode()),
    "glove, spaces at the end": ("glove", text(trailing="  ").encode()),
    "word2vec": ("word2vec", b"3 2\n" + text().encode()),
    "word2vec, windows": ("word2vec", b"3 2\r\n" + text(end="\r\n").encode()),
    "fasttext": ("word2vec", b"3 2\n" + text(trailing=" ").encode()),
    "binary": ("word2vec-binary", binary()),
    "binary, no line breaks": ("word2vec-binary", binary(newline=b"")),
}


@pytest.mark.parametrize(("form", "content"), GOOD.values(), ids=GOOD)
def test_a_good_file_is_recognised_and_read(tmp_path, form, content):
    path = tmp_path / "vectors.any"
    path.write_bytes(content)
    found, built = read(path)
    assert found == form
    assert built.space.words == tuple(WORDS)
    np.testing.assert_array_equal(built.space.vectors, ROWS)
    assert built.space.vectors.dtype == np.float32
    assert not built.dropped


@pytest.mark.parametrize("form", ["word2vec", "fasttext"])
def test_an_explicit_format_is_followed(tmp_path, form):
    path = tmp_path / "v.vec"
    path.write_text("3 1\ncold 1\ncool 2\nwarm 3\n")
    found, built = read(path, form=form)
    assert found == form
    assert built.space.words == tuple(WORDS)


def test_numbers_are_rounded_correctly(tmp_path):
    numbers = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    path = tmp_path / "v.txt"
    lines = (f"w{i} " + " ".join(map(repr, r.tolist())) for i, r in enumerate(numbers))
    path.write_text("\n".join(lines))
    np.testing.assert_array_equal(read(path)[1].space.vectors, numbers)


ODD = [". . .", "at name@domain.com", "a\u0085b", "c\u2028d", "\u3000", "a\tb", "a\0b"]


@pytest.mark.parametrize("word", ODD)
def test_a_word_that_could_break_a_format_is_a_bad_row(tmp_path, word):
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = tmp_path / "v.txt"
    path.write_text(text([word, "plain"], rows), encoding="utf-8")
    with pytest.raises(EmbeddingFormatError, match="white space"):
        read(path)
    built = read(path, skip=True)[1]
    assert built.space.words == ("plain",)
    np.testing.assert_array_equal(built.space.vectors, rows[1:])


def test_chunks_do_not_change_what_is_read(tmp_path, monkeypatch):
    words = [f"w{i}" for i in range(300)]
    rows = np.random.default_rng(1).standard_normal((300, 5)).astype(np.float32)
    rows = np.round(rows, 3)
    for content in (text(words, rows).encode(), binary(words, rows)):
        path = tmp_path / "v"
        path.write_bytes(content)
        whole = read(path)[1].space
        monkeypatch.setattr(readers, "_CHUNK_BYTES", 97)
        parts = read(path)[1].space
        monkeypatch.undo()
        assert parts.words == whole.words
        np.testing.assert_array_equal(parts.vectors, whole.vectors)


BAD = {
    "ragged, too few": (b"a 1 2\nb 1\nc 1 2\n", 2, "ragged"),
    "ragged, too many": (b"a 1 2\nb 1 2 3\nc 1 2\n", 2, "ragged"),
    "ragged, first line": (b"a 1\nb 1 2\nc 1 2\n", 1, "ragged"),
    "not a number": (b"a 1 2\nb 1 x\nc 1 2\n", 2, "not a number"),
    "underscore": (b"a 1 2\nb 1 1_0\nc 1 2\n", 2, "not a number"),
    "two spaces": (b"a 1 2\nb  1 2\nc 1 2\n", 2, "space"),
    "empty field": (b"a 1 2 3\nb 1  3\nc 1 2 3\n", 2, "not a number"),
    "nan": (b"a 1 2\nb 1 nan\nc 1 2\n", 2, "NaN"),
    "inf": (b"a 1 2\nb -inf 1\nc 1 2\n", 2, "NaN or infinite"),
    "overflow": (b"a 1 2\nb 1e99 1\nc 1 2\n", 2, "NaN or infinite"),
    "duplicate": (b"a 1 2\nb 1 2\na 1 3\n", 3, "duplicate of the one in line 1"),
    "broken utf-8": (b"a 1 2\nb\xff 1 2\nc 1 2\n", 2, "UTF-8"),
    "no-break space": ("a 1 2\nb\u00a0c 1 2\nc 1 2\n".encode(), 2, "U\\+00A0"),
    "empty word": (b"a 1 2\n 1 2\nc 1 2\n", 2, "empty"),
    "blank line": (b"a 1 2\n\nc 1 2\n", 2, "blank"),
    "carriage return": (b"a 1 2\nb\rb 1 2\nc 1 2\n", 2, "white space or a control"),
    "carriage return in numbers": (b"a 1 2\nb 1\r 2\nc 1 2\n", 2, "not a number"),
    "too few rows": (b"5 2\na 1 2\nb 3 4\n", 1, "promises 5 rows, the file has 2"),
    "too many rows": (b"1 2\na 1 2\nb 3 4\n", 3, "promises 1 rows"),
    "too many dimensions": (b"2 3\na 1 2\nb 3 4\n", 2, "2 numbers where 3 belong"),
    "too few dimensions": (b"2 2\na 1 2 3\nb 3 4 5\n", 2, "more than the 2"),
}


@pytest.mark.parametrize(("content", "line", "problem"), BAD.values(), ids=BAD)
def test_a_bad_row_is_an_error_with_file_and_line(tmp_path, content, line, problem):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(EmbeddingFormatError, match=problem) as caught:
        read(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)
    assert f"{path}, line {line}: " in str(caught.value)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("key", [k for k in BAD if "dimensions" not in k])
def test_skip_bad_drops_and_counts(tmp_path, key):
    content, _, _ = BAD[key]
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    built = read(path, skip=True)[1]
    assert sum(built.dropped.values()) == 1
    assert built.space.words in {("a", "b"), ("a", "c"), ("b", "c")}


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \n"])
def test_an_empty_file_is_an_error(tmp_path, content):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(EmbeddingFormatError, match="empty"):
        read(path)


@pytest.mark.parametrize("content", [b"2 1\na 1\nb 2\n", b"2 3", b"2 3\n", b"0 3\n\n"])
def test_an_ambiguous_first_line_asks_for_the_format(tmp_path, content):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(EmbeddingFormatError, match="--format"):
        read(path)


def test_two_numbers_are_a_word_where_the_rows_have_one_number(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("2 3\na 1\nb 2\n")
    assert read(path)[1].space.words == ("2", "a", "b")
    path.write_text("2 1\na 1\nb 2\n")
    assert read(path, form="glove")[1].space.words == ("2", "a", "b")


@pytest.mark.parametrize("header", ["0 2", "3 0", "3 99999999", "three 2", "3"])
def test_a_wrong_header_is_named(tmp_path, header):
    path = tmp_path / "v.txt"
    path.write_text(header + "\n" + text())
    with pytest.raises(EmbeddingFormatError, match=r"line 1.*header"):
        read(path, form="word2vec")


def test_a_binary_file_cut_off_is_named_by_row(tmp_path):
    path = tmp_path / "v.bin"
    path.write_bytes(binary()[:-4])
    with pytest.raises(EmbeddingFormatError, match="row 3: the file is cut off"):
        read(path)
    assert read(path, skip=True)[1].space.words == ("cold", "cool")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (binary(header="2 2"), "more bytes follow"),
        (binary(header="9 2"), "cut off"),
        (binary(["a", "a", "b"]), "row 2: the word is a duplicate"),
        (binary(rows=ROWS * np.array([[1], [np.nan], [1]], "f4")), "row 2: .*NaN"),
        (binary().replace(b"cool", b"c\xffol"), "row 2: .*UTF-8"),
        (b"2 2\n" + b"\x01" * 9000, "no word"),
    ],
)
def test_a_bad_binary_file_is_an_error(tmp_path, content, problem):
    path = tmp_path / "v.bin"
    path.write_bytes(content)
    with pytest.raises(EmbeddingFormatError, match=problem):
        read(path, form="word2vec-binary")


def test_an_array_is_paired_with_its_word_list(tmp_path):
    path = tmp_path / "v.f16.npy"
    np.save(path, ROWS.astype(np.float16))
    with pytest.raises(EmbeddingFormatError, match="holds no words"):
        read(path)
    (tmp_path / "v.words.txt").write_bytes("\r\n".join(WORDS).encode())
    assert sibling_word_list(path) == tmp_path / "v.words.txt"
    form, built = read(path)
    assert (form, built.space.words) == ("npy", tuple(WORDS))
    assert built.space.vectors.dtype == np.float16
    assert read(path, dtype="float32")[1].space.vectors.dtype == np.float32


def test_a_word_list_of_wrong_length_is_an_error(tmp_path):
    path, words = tmp_path / "v.npy", tmp_path / "w.txt"
    np.save(path, ROWS)
    words.write_text("cold\ncool\n")
    with pytest.raises(EmbeddingFormatError, match=r"w.txt: 2 words for the 3 rows"):
        read(path, word_list=words)


def test_bad_words_and_numbers_of_an_array_name_their_own_file(tmp_path):
    path, words = tmp_path / "v.npy", tmp_path / "w.txt"
    np.save(path, ROWS)
    words.write_bytes(b"cold\n\xff\nwarm\n")
    with pytest.raises(EmbeddingFormatError, match=r"w.txt, line 2: .*UTF-8"):
        read(path, word_list=words)
    built = read(path, word_list=words, skip=True)[1]
    np.testing.assert_array_equal(built.space.vectors, ROWS[[0, 2]])
    words.write_text("cold\ncold\nwarm\n")
    with pytest.raises(EmbeddingFormatError, match=r"w.txt, line 2: .*duplicate"):
        read(path, word_list=words)
    words.write_text("\n".join(WORDS))
    np.save(path, np.array([[1], [np.inf], [0]]))
    with pytest.raises(EmbeddingFormatError, match=r"v.npy: row 2: .*infinite"):
        read(path, word_list=words)


@pytest.mark.parametrize(
    "array", [np.zeros(3), np.zeros((3, 2), int), np.zeros((0, 2)), np.array([["x"]])]
)
def test_an_array_of_another_kind_is_an_error(tmp_path, array):
    path, words = tmp_path / "v.npy", tmp_path / "w.txt"
    np.save(path, array)
    words.write_text("a\nb\nc\n")
    with pytest.raises(EmbeddingFormatError, match="array must"):
        read(path, word_list=words)


def test_pickles_and_damaged_arrays_are_refused(tmp_path):
    path, words = tmp_path / "v.npy", tmp_path / "w.txt"
    words.write_text("a\nb\nc\n")
    np.save(path, np.array([["x", 1], ["y", 2]], dtype=object), allow_pickle=True)
    with pytest.raises(EmbeddingFormatError, match="not a whole"):
        read(path, word_list=words)
    np.save(path, ROWS)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(EmbeddingFormatError, match="not a whole"):
        read(path, word_list=words)
    path.write_bytes(b"")
    with pytest.raises(EmbeddingFormatError, match="not a whole"):
        read(path, word_list=words, form="npy")


def test_large_numbers_do_not_silently_become_infinite(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1\nb 70000\nc 2\n")
    with pytest.raises(EmbeddingFormatError, match=r"line 2.*float16.*--dtype float32"):
        read(path, dtype="float16")
    assert read(path, dtype="float16", skip=True)[1].space.words == ("a", "c")
    assert read(path)[1].space.vocab_size == 3


def test_a_long_double_does_not_overflow_float32(tmp_path):
    path, words = tmp_path / "v.npy", tmp_path / "w.txt"
    words.write_text("a\nb\n")
    np.save(path, np.array([[1e300], [1.0]]))
    with pytest.raises(EmbeddingFormatError, match=r"row 1.*float32"):
        read(path, word_list=words)
    np.save(path, np.array([[3e38], [1.0]]))
    with pytest.raises(SpaceError, match="too large"):
        read(path, word_list=words)


def test_filters_keep_the_order_of_the_file(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text(text(["Cold", *WORDS[1:]]))
    built = read(path, only={"warm", "Cold", "hot"})[1]
    assert built.space.words == ("Cold", "warm")
    assert (built.missing, built.upper_case) == (1, 1)
    assert read(path, limit=2)[1].space.words == ("Cold", "cool")
    with pytest.raises(EmbeddingFormatError, match="no row is left"):
        read(path, only={"hot"})


def test_words_with_a_no_break_space_are_kept_when_asked(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("at\u00a0home 1 2\nb 2 3\n", encoding="utf-8")
    assert read(path, allow_nbsp=True)[1].space.words == ("at\u00a0home", "b")


def test_zero_rows_are_allowed(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 0 0\nb 0 0\nc 1 1\n")
    space = read(path)[1].space
    assert space.canonical.tolist() == [0, 0, 2, 3]
    assert space.geometry.closest > 0


@pytest.mark.parametrize("what", ["gzip", "zip", "fastText model", "UTF-16"])
def test_other_kinds_of_file_are_named(tmp_path, what):
    path = tmp_path / "v.txt"
    if what == "gzip":
        path.write_bytes(gzip.compress(b"a 1 2\n"))
    elif what == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("v", "a 1 2")
    elif what == "UTF-16":
        path.write_text("a 1 2\n", encoding="utf-16")
    else:
        path.write_bytes((793712314).to_bytes(4, "little") + bytes(50))
    with pytest.raises(EmbeddingFormatError, match=what):
        read(path)


def test_a_binary_blob_is_not_read_as_one_long_line(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_LONGEST_LINE", 1000)
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\n" + b"x" * 5000)
    with pytest.raises(EmbeddingFormatError, match="line 2: longer than"):
        read(path)


def test_rows_are_read_as_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_CHUNK_BYTES", 32)
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\nb 3 4\n" * 20 + "broken\n")
    with open_vectors(path, BadRows()) as source:
        assert next(source.blocks).words[0] == "a"
    assert read(path, limit=2)[1].space.words == ("a", "b")


def test_wrong_requests_are_refused(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text(text())
    with pytest.raises(InvalidParameterError):
        read(path, form="csv")
    with pytest.raises(InvalidParameterError):
        read(path, limit=0)
    with pytest.raises(InvalidParameterError):
        read(path, dtype="float64")
    with pytest.raises(EmbeddingFormatError, match="needs no list"):
        read(path, word_list=path)
    with pytest.raises(SpaceError, match="cannot be read"):
        read(tmp_path / "absent.txt")
    with pytest.raises(SpaceError, match="cannot be read"):
        read_words(tmp_path / "absent.txt", BadRows())
    path.write_text("only words\nand more words\n")
    with pytest.raises(EmbeddingFormatError, match="known formats"):
        read(path)
