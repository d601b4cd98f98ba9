"""Rows in memory for liblockstep: `Dataset`.

Arrays that have the library's types (indptr int64, indices int32, values float32) are
borrowed and not copied; a Dataset keeps them alive.
"""
import ctypes
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from lockstep import _library
from lockstep._library import Handle, InputError, Options, Value, call, call_hex, path_bytes

_TYPES = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}


class Array(ctypes.Structure):
    """struct ls_array"""
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_uint64), ("type", ctypes.c_char_p)]


class Csr(ctypes.Structure):
    """struct ls_csr_arrays"""
    _fields_ = [("name", ctypes.c_char_p), ("columns", ctypes.c_uint64), ("indptr", Array), ("indices", Array),
                ("values", Array), ("fields", Array), ("labels", Array), ("weights", Array)]


class Facts(ctypes.Structure):
    """struct ls_dataset_info"""
    _fields_ = [("rows", ctypes.c_uint64), ("entries", ctypes.c_uint64), ("features", ctypes.c_uint64),
                ("fields", ctypes.c_uint32), ("has_labels", ctypes.c_bool), ("has_weights", ctypes.c_bool)]


def _plain(values: Any, name: str) -> Any:
    """One axis, contiguous, of a type that the library reads, in this machine's order."""
    a = np.asarray(values)
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.ndim != 1:
        raise InputError("%s has %d axes; it should have one" % (name, a.ndim), _library.EINPUT)
    if a.dtype.name not in _TYPES:
        a = a.astype(np.float64)
    return np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("="))


def dense_to_csr(x: Any) -> Tuple[Any, Any, Any]:
    """(indptr, indices, values) of what is not zero in a matrix."""
    rows, columns = x.shape
    if np.count_nonzero(x) == x.size:
        return (np.arange(0, rows * columns + 1, max(columns, 1), dtype=np.int64)[:rows + 1] if columns else
                np.zeros(rows + 1, np.int64),
                np.tile(np.arange(columns, dtype=np.int32), rows), np.ascontiguousarray(x).reshape(-1))
    there = np.ascontiguousarray(x != 0)
    indptr = np.zeros(rows + 1, np.int64)
    np.cumsum(np.count_nonzero(there, axis=1), out=indptr[1:])
    flat = np.flatnonzero(there)
    return indptr, (flat % columns).astype(np.int32), np.ascontiguousarray(x).reshape(-1)[flat]


def as_csr(x: Any) -> Tuple[Any, Any, Any, Tuple[int, int]]:
    """(indptr, indices, values, shape) of a matrix: scipy's of any kind, or what numpy takes."""
    if hasattr(x, "tocsr"):
        m = x.tocsr()
        indices = m.indices if m.indices.dtype == np.int32 or m.shape[1] > 1 << 31 else m.indices.astype(np.int32)
        return m.indptr.astype(np.int64, copy=False), indices, m.data, m.shape
    a = np.asarray(x)
    if a.ndim != 2:
        raise InputError("rows have %d axes; they should have two" % a.ndim, _library.EINPUT)
    return (*dense_to_csr(a), (int(a.shape[0]), int(a.shape[1])))


class Dataset:
    """Rows of features, as compressed sparse rows.

    x: a numpy matrix, whose zeros are left out, or a sparse matrix of scipy. y: a label a
    row. sample_weight: a weight a row. For ffm and fwfm also fields, a number for each column
    of x ("columns": each is a field of its own), or entry_fields, one for each of its entries
    in the order of CSR. Arrays must not be changed while they are in use.
    """

    def __init__(self, x: Any, y: Any = None, sample_weight: Any = None, fields: Any = None,
                 entry_fields: Any = None) -> None:
        self.indptr, self.indices, self.values, shape = as_csr(x)
        self.shape: Tuple[int, int] = (int(shape[0]), int(shape[1]))
        self.fields = self._fields_of(fields, entry_fields)
        self.y, self.sample_weight = y, sample_weight
        self._made: Optional[Handle] = None
        self._keep: List[Any] = []

    def _fields_of(self, fields: Any, entry_fields: Any) -> Any:
        if fields is not None and entry_fields is not None:
            raise InputError("fields and entry_fields: only one can be", _library.EINPUT)
        if fields is None:
            return None if entry_fields is None else _plain(entry_fields, "entry_fields")
        if isinstance(fields, str) and fields == "columns":
            return self.indices
        given = _plain(fields, "fields")
        if len(given) != self.shape[1]:
            raise InputError("there are %d fields for %d columns" % (len(given), self.shape[1]), _library.EINPUT)
        if given.dtype.kind in "iu" and len(given) and 0 <= given.min() and given.max() <= 0xffff:
            given = given.astype(np.uint16)  # quicker to spread, and what the library has
        return given[self.indices]

    @classmethod
    def load(cls, path: Any, **options: Value) -> "Dataset":
        """Rows of a file in any form that `fm train` reads. Options: format, labels, weights."""
        made = Handle("ls_dataset_free")
        call("ls_dataset_load", path_bytes(path), Options("fm train", options), made.ret)
        return cls._of(made)

    @classmethod
    def _of(cls, made: Handle) -> "Dataset":
        d = cls.__new__(cls)
        d.indptr = d.indices = d.values = d.fields = d.y = d.sample_weight = None
        d._made, d._keep = made, []
        d.shape = (0, 0)
        facts = d.describe()
        d.shape = (facts["rows"], facts["features"])
        return d

    def _make(self) -> Handle:
        arrays = {"indptr": self.indptr, "indices": self.indices, "values": self.values, "fields": self.fields,
                  "labels": self.y, "weights": self.sample_weight}
        c = Csr(columns=self.shape[1])
        for name, values in arrays.items():
            if values is not None:
                a = _plain(values, name)
                self._keep.append(a)
                setattr(c, name, Array(a.ctypes.data, len(a), a.dtype.name.encode()))
        made = Handle("ls_dataset_free")
        call("ls_dataset_from_csr", ctypes.byref(c), made.ret)
        return made

    @property
    def handle(self) -> Handle:
        """What calls of the library take; the arrays are checked when it is first used."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def with_labels(self, y: Any, sample_weight: Any) -> "Dataset":
        """The same rows, the arrays shared, with other labels and weights."""
        if self.indptr is None:
            raise InputError("rows of a file have their own labels", _library.EINPUT)
        d = type(self).__new__(type(self))
        d.indptr, d.indices, d.values = self.indptr, self.indices, self.values
        d.fields, d.shape = self.fields, self.shape
        d.y, d.sample_weight = y, sample_weight
        d._made, d._keep = None, []
        return d

    def describe(self) -> Dict[str, Any]:
        """{"rows", "entries", "features", "fields", "has_labels", "has_weights"}"""
        facts = Facts()
        _library.library().ls_dataset_describe(self.handle, ctypes.byref(facts))
        return {name: getattr(facts, name) for name, *_ in Facts._fields_}

    def digest(self) -> str:
        """The digest of the rows: the same whatever form they came in."""
        return call_hex("ls_dataset_digest", self.handle)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> "Dataset":
        """Some rows, by a slice, a mask or numbers: what cross-validation takes."""
        if self.indptr is None:
            raise InputError("rows of a file cannot be taken apart here", _library.EINPUT)
        chosen = np.atleast_1d(np.arange(self.shape[0])[rows[0] if isinstance(rows, tuple) else rows])
        lengths = np.diff(self.indptr)[chosen]
        indptr = np.zeros(len(chosen) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        entries = np.repeat(self.indptr[chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
        d = self.with_labels(None if self.y is None else np.asarray(self.y)[chosen],
                             None if self.sample_weight is None else np.asarray(self.sample_weight)[chosen])
        d.indptr, d.indices, d.values = indptr, self.indices[entries], self.values[entries]
        d.fields = None if self.fields is None else self.fields[entries]
        d.shape = (len(chosen), self.shape[1])
        return d

    def __repr__(self) -> str:
        return "<%d rows of %d features%s>" % (*self.shape, "" if self.fields is None else ", with fields")
