"""Tables in memory become rows of features: `Hasher`, with the numbers that `lockstep fm
convert` gives a table in CSV (docs/FORMATS.md, "Rows: tables").

    hasher = Hasher(categorical=["city", "device"], numeric=["price"], label="clicked")
    rows = hasher.fit_transform(frame)          # scipy's csr_matrix, for a pipeline
    data = hasher.dataset(frame)                # lockstep.Dataset, with fields and labels
    hasher.save("rows.columns.json")            # for --columns of the command line
"""
import ctypes
import json
import operator
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin

from lockstep import _library
from lockstep._library import InputError
from lockstep._manifest import write_json

MISSING = 0xffffffff  # LS_FEATURE_MISSING
_MOST_NAMES = 1000000
_MOST_SEED = 2**63 - 1
_FORMAT = "lockstep-fm-columns"
Self = TypeVar("Self", bound="Hasher")
Names = Union[str, Sequence[str]]


def _refuse(text: str, *values: Any) -> InputError:
    return InputError(text % values, _library.EINPUT)


# --- one column ---

def _whole(name: str, value: Any, most: int) -> int:
    """For ctypes, which would take a number beyond its type without a word."""
    try:
        number = operator.index(value)
    except TypeError:
        raise _refuse("%s is a whole number, not %r", name, value) from None
    if not 0 <= number <= most:
        raise _refuse("%s is a whole number from 0 to %d, not %d", name, most, number)
    return number


def hash_values(column: str, texts: Sequence[str], seed: int, bits: int) -> Any:
    """The features of a column's values; MISSING for one that counts as missing."""
    blocks = [t.encode("utf-8", "surrogateescape") for t in texts]
    seed, bits = _whole("seed", seed, _MOST_SEED), _whole("bits", bits, 99)
    ends = np.cumsum(np.array([len(b) for b in blocks], np.uint64), dtype=np.uint64)
    found = np.empty(len(blocks), np.uint32)
    if blocks:
        text = b"".join(blocks)
        _library.call("ls_features_hash", _column_bytes(column), text, ends.ctypes.data, len(blocks), seed, bits,
                      found.ctypes.data)
    return found


def hash_column(column: str, seed: int, bits: int) -> int:
    """The feature of a column of numbers."""
    seed, bits = _whole("seed", seed, _MOST_SEED), _whole("bits", bits, 99)
    found = ctypes.c_uint32()
    _library.call("ls_features_hash", _column_bytes(column), None, None, 1, seed, bits, ctypes.byref(found))
    return found.value


def _column_bytes(column: str) -> bytes:
    if "\0" in column:
        raise _refuse("a column's name holds a zero byte")
    return column.encode("utf-8", "surrogateescape")


def _cell_text(column: str, value: Any) -> str:
    """A category as the CSV file would have it."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (bytes, np.bytes_)):
        return bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, (float, np.floating)) and value != value:
        return ""
    raise _refuse("column \"%s\": %r is a %s; categories are text or whole numbers, as the text of others is not unique: make "
                  "it a column of text", column, value, type(value).__name__)


def _cells(values: Any) -> List[Any]:
    if isinstance(values, (str, bytes)):
        raise _refuse("a column is a list of its values, not %r", values[:40])
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            return list(getattr(values, name)())
    return list(values)


class _Categories(NamedTuple):
    texts: List[str]  # in the order of appearance
    features: Any  # of texts
    codes: Any  # of rows, into texts


def _categories(column: str, values: Any, seed: int, bits: int) -> _Categories:
    number: Dict[str, int] = {}
    codes = np.array([number.setdefault(_cell_text(column, v), len(number)) for v in _cells(values)], np.int64)
    texts = list(number)
    return _Categories(texts, hash_values(column, texts, seed, bits), codes)


def _float64(column: str, values: Any) -> Any:
    """NaN where a value is missing."""
    if hasattr(values, "to_pylist"):
        cells = values.to_pylist()
    elif hasattr(values, "to_numpy") and str(getattr(values, "dtype", "object")) not in ("object", "Object"):
        cells = values.to_numpy()
    else:
        cells = values
    if getattr(cells, "dtype", np.dtype(object)).kind not in "iuf":
        cells = [np.nan if v is None or type(v).__name__ == "NAType" else v for v in _cells(cells)]
        wrong = [v for v in cells if isinstance(v, (str, bytes, bool, np.bool_))]
        if wrong:
            raise _refuse("column \"%s\": %r is not a number; a missing value is None or NaN", column, wrong[0])
    try:
        return np.asarray(cells, np.float64)
    except (TypeError, ValueError) as fault:
        raise _refuse("column \"%s\": %s", column, fault) from fault


def _numbers(column: str, values: Any) -> Tuple[Any, Any]:
    """(binary32, whether it is there), each rounded once from what the table has."""
    wide = _float64(column, values)
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
    if np.isinf(narrow).any():
        raise _refuse("column \"%s\": %r is not finite in binary32", column, float(wide[np.isinf(narrow)][0]))
    return narrow, ~np.isnan(wide)


# --- tables ---


def _column_names(table: Any) -> List[str]:
    if hasattr(table, "column_names"):
        return list(table.column_names)
    return [str(c) for c in (table.columns if hasattr(table, "columns") else table)]


def _read_file(path: str, names: List[str], categorical: Sequence[str]) -> Any:
    """A table of pyarrow from Parquet or CSV; of CSV, text stays as it stands."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as fault:
        raise ImportError("%s: tables are read from files by pyarrow, which is not installed" % path) from fault
    if path.endswith((".parquet", ".pq")):
        return pyarrow.parquet.read_table(path, columns=names)
    if path.endswith((".csv", ".tsv", ".csv.gz")):
        words = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"]
        convert = pyarrow.csv.ConvertOptions(include_columns=names, null_values=words, strings_can_be_null=False,
                                             column_types={n: pyarrow.string() if n in categorical else pyarrow.float64()
                                                           for n in names})
        parse = pyarrow.csv.ParseOptions(delimiter="\t" if path.endswith(".tsv") else ",", newlines_in_values=True)
        return pyarrow.csv.read_csv(path, parse_options=parse, convert_options=convert)
    raise _refuse("%s: is neither .parquet nor .csv; pass a table", path)


class _Entries(NamedTuple):
    """Rows before they are a matrix: entry by entry, row by row."""

    indptr: Any
    indices: Any
    values: Any
    fields: Any


class Hasher(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns of categories and of numbers as hashed features.

    categorical, numeric: names of columns, in the order of fields; those of categories come
    first. A row has one entry for each of them, but for missing values. seed, bits: of the
    hash; there are 2**bits features. label, weight: names of the columns that have them,
    for dataset() and for the file that save() writes.

    A table is a DataFrame of pandas or polars, a pyarrow Table, a dict of lists, or the path
    of a Parquet or CSV file (by pyarrow). Categories are text, whole numbers or truth values
    ("True"); a missing value is None, NaN, or what counts as missing in CSV ("NA", "").
    """

    def __init__(self, categorical: Names = (), numeric: Names = (), *, label: Optional[str] = None, weight: Optional[str] = None,
                 seed: int = 1337, bits: int = 18) -> None:
        self.categorical = categorical
        self.numeric = numeric
        self.label = label
        self.weight = weight
        self.seed = seed
        self.bits = bits

    def _lists(self) -> Tuple[List[str], List[str]]:
        both = [[names] if isinstance(names, str) else list(names) for names in (self.categorical, self.numeric)]
        every = both[0] + both[1]
        twice = [n for i, n in enumerate(every) if n in every[:i]]
        if twice or not every:
            raise _refuse("column \"%s\" is named twice", twice[0]) if twice else _refuse("no columns are named")
        mixed = [n for n in every if n in (self.label, self.weight)]
        if mixed:
            raise _refuse("column \"%s\" is both a feature and the label or the weight", mixed[0])
        return both[0], both[1]

    def _table(self, x: Any, labels: bool = False) -> Any:
        categorical, numeric = self._lists()
        names = categorical + numeric + [n for n in (self.label, self.weight) if labels and n]
        if isinstance(x, (str, os.PathLike)):
            return _read_file(os.fspath(x), names, [*categorical, self.label or ""])
        if not hasattr(x, "keys") and not hasattr(x, "columns"):
            raise _refuse("a %s is no table: pass a DataFrame, a pyarrow Table or a dict of lists", type(x).__name__)
        there = _column_names(x)
        absent = [n for n in names if n not in there]
        twice = [n for n in names if there.count(n) > 1]
        if twice:
            raise _refuse("the table has two columns \"%s\"", twice[0])
        if absent:
            raise _refuse("there is no column \"%s\"; the table has: %s", absent[0], ", ".join(there[:40]))
        return x

    # --- entries ---

    def _columns(self, table: Any) -> Tuple[List[Any], List[Any], List[Optional[_Categories]]]:
        """Of each column: features, values (NaN: missing), and of categories the texts."""
        categorical, numeric = self._lists()
        features: List[Any] = []
        values: List[Any] = []
        kept: List[Optional[_Categories]] = []
        for name in categorical:
            found = _categories(name, table[name], self.seed, self.bits)
            feature = found.features[found.codes] if len(found.codes) else np.zeros(0, np.uint32)
            features.append(feature)
            values.append(np.where(feature == MISSING, np.float32(np.nan), np.float32(1)))
            kept.append(found)
        for name in numeric:
            numbers, there = _numbers(name, table[name])
            features.append(np.full(len(numbers), hash_column(name, self.seed, self.bits), np.uint32))
            values.append(np.where(there, numbers, np.float32(np.nan)))
            kept.append(None)
        lengths = {len(f) for f in features}
        if len(lengths) > 1:
            raise _refuse("columns have different lengths: %s", ", ".join(map(str, sorted(lengths))))
        return features, values, kept

    @staticmethod
    def _join(features: List[Any], values: List[Any]) -> _Entries:
        table, numbers = np.column_stack(features), np.column_stack(values)
        there = ~np.isnan(numbers)
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        fields = np.broadcast_to(np.arange(len(features), dtype=np.uint16), there.shape)[there]
        return _Entries(indptr, table[there].astype(np.int32), numbers[there], fields)

    # --- scikit-learn's ---

    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Learns what features are called, and the classes of labels in words. The
        features themselves depend on nothing that is learnt."""
        table = self._table(X)
        features, values, kept = self._columns(table)
        if not len(features[0]):
            raise _refuse("the table has no rows")
        self._learn_names(self._join(features, values), features, values, kept)
        if y is None and self.label is not None and not isinstance(X, (str, os.PathLike)) and self.label in _column_names(X):
            y = X[self.label]
        self.classes_ = _classes_of(y)
        categorical, numeric = self._lists()
        self.feature_names_in_ = np.array(categorical + numeric, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        return self

    def _learn_names(self, entries: _Entries, features: List[Any], values: List[Any], kept: List[Optional[_Categories]]) -> None:
        categorical, numeric = self._lists()
        names = categorical + numeric
        rows = np.repeat(np.arange(len(entries.indptr) - 1), np.diff(entries.indptr))
        found, first = np.unique(entries.indices, return_index=True)
        order = np.argsort(first, kind="stable")[:_MOST_NAMES]
        self.names_: Dict[int, str] = {}
        for feature, entry in zip(found[order].tolist(), first[order].tolist()):
            column = int(entries.fields[entry])
            of = kept[column]
            self.names_[feature] = names[column] if of is None else "%s=%s" % (names[column], of.texts[of.codes[rows[entry]]])
        several = [of.features[of.features != MISSING] for of in kept if of is not None]
        several += [f[:1] for f, v, of in zip(features, values, kept) if of is None and not np.isnan(v).all()]
        counts = np.unique(np.concatenate(several), return_counts=True)[1] if several else np.zeros(0)
        self.collisions_ = int((counts > 1).sum())  # features that several values share

    def transform(self, X: Any) -> Any:
        """scipy's csr_matrix with 2**bits columns. Entries of a row are in the order of
        its columns, and two that share a feature stay two."""
        e = self.entries(X)
        return scipy.sparse.csr_matrix((e.values, e.indices, e.indptr), shape=(len(e.indptr) - 1, 1 << self.bits))

    def entries(self, X: Any) -> _Entries:
        """(indptr, indices, values, fields): the rows with the field of each entry."""
        return self._join(*self._columns(self._table(X))[:2])

    def dataset(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """lockstep.Dataset: rows with their fields, for every kind of model. Labels and
        weights are y and sample_weight, else the columns `label` and `weight`; labels in
        words become the numbers of their classes."""
        from lockstep._data import Dataset
        table = self._table(X, labels=y is None and self.label is not None)
        e = self._join(*self._columns(table)[:2])
        if y is None and self.label is not None:
            y = table[self.label]
        if sample_weight is None and self.weight is not None:
            sample_weight = _numbers(self.weight, table[self.weight])[0]
        rows = scipy.sparse.csr_matrix((e.values, e.indices, e.indptr), shape=(len(e.indptr) - 1, 1 << self.bits))
        return Dataset(rows, None if y is None else self._labels(y), sample_weight, entry_fields=e.fields)

    def _labels(self, y: Any) -> Any:
        classes = getattr(self, "classes_", None) or _classes_of(y)
        if not classes:
            return _numbers(self.label or "y", y)[0]
        number = {text: i for i, text in enumerate(classes)}
        texts = [_cell_text(self.label or "y", v) for v in _cells(y)]
        strange = [t for t in texts if t not in number]
        if strange:
            raise _refuse("\"%s\" is a label that the first table did not have", strange[0])
        return np.array([number[t] for t in texts], np.float32)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """"city=Rome" or "price" for features of the fitted table, "feature 7" else."""
        if self.bits > 22:
            raise _refuse("2**%d names are too many to list; names_ has those of the fitted table", self.bits)
        names = np.array(["feature %d" % i for i in range(1 << self.bits)], dtype=object)
        for feature, name in self._names().items():
            names[feature] = name
        return names

    def _names(self) -> Dict[int, str]:
        if not hasattr(self, "names_"):
            from sklearn.exceptions import NotFittedError
            raise NotFittedError("this Hasher is not fitted: features have names once a table was seen")
        return self.names_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # --- the file beside the rows ---

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """What `fm convert` writes beside rows, for --columns of `predict`, `eval`,
        `inspect` and `convert`."""
        if not self.label:
            raise _refuse("the file names the column of the label: set label")
        categorical, numeric = self._lists()
        columns = [{"name": n, "kind": "categorical"} for n in categorical] + [{"name": n, "kind": "numeric"} for n in numeric]
        names = {str(f): self._names()[f] for f in sorted(self._names())}
        write_json(os.fspath(path), {
            "format": _FORMAT, "version": 1, "hash": "xxh3-64", "seed": int(self.seed), "bits": int(self.bits), "delimiter": "",
            "header": True, "label": self.label, "weight": self.weight, "columns": columns,
            "classes": getattr(self, "classes_", None) or None, "names": names})

    @classmethod
    def load(cls: Type[Self], path: Union[str, "os.PathLike[str]"]) -> Self:
        """Of such a file: the same features, names and classes."""
        try:
            with open(path, encoding="utf-8") as f:
                d = json.load(f)
        except ValueError as fault:
            raise _refuse("%s: not valid JSON: %s", path, fault) from fault
        if not isinstance(d, dict) or d.get("format") != _FORMAT or d.get("version") != 1 or d.get("hash") != "xxh3-64":
            raise _refuse("%s: does not say how a table becomes rows; `lockstep fm convert` and Hasher.save write such a file", path)
        absent = [n for n in ("columns", "label", "weight", "seed", "bits", "names", "classes") if n not in d]
        if absent:
            raise _refuse("%s: has no \"%s\"", path, absent[0])
        kinds = {k: [c["name"] for c in d["columns"] if c["kind"] == k] for k in ("categorical", "numeric")}
        if [c["name"] for c in d["columns"]] != kinds["categorical"] + kinds["numeric"]:
            raise _refuse("%s: has numbers before categories, which a Hasher has not", path)
        made = cls(kinds["categorical"], kinds["numeric"], label=d["label"], weight=d["weight"], seed=d["seed"], bits=d["bits"])
        made.names_ = {int(k): v for k, v in d["names"].items()}
        made.classes_ = d["classes"]
        made.feature_names_in_ = np.array([c["name"] for c in d["columns"]], dtype=object)
        made.n_features_in_ = len(made.feature_names_in_)
        return made


def _classes_of(y: Any) -> Optional[List[str]]:
    """The words of labels in the order of their bytes; None for numbers."""
    cells = [] if y is None else _cells(y)
    words = {v for v in cells if isinstance(v, str)}
    if words and len(words) < len(set(cells)):
        raise _refuse("labels in words and in numbers: all in words are classes, all in numbers what they are")
    if len(words) > 4096:
        raise _refuse("%d labels in words; classes are 4096 at most", len(words))
    return sorted(words, key=lambda w: w.encode("utf-8", "surrogateescape")) or None
