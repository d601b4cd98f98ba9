"""What the library judges: two files or folders, this machine, a spec, a plan for other
GPUs. Each function returns a result; only what could not be asked at all is an exception.
"""
import ctypes
import enum
import json
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from lockstep import _library

Path = Union[str, "os.PathLike[str]"]


class Answer(enum.IntEnum):
    """The numbers are the exit statuses of the command."""

    YES = 0
    NO = 1
    UNKNOWN = 3

    def __str__(self) -> str:
        return self.name.lower()


def _options(command: str, values: Mapping[str, Any]) -> _library.Options:
    """Lists are options that are given several times."""
    options = _library.Options(command)
    for name, value in values.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            options.set(name, one)
    return options


@dataclass(frozen=True)
class Report:
    """An answer and the document behind it: `json` is what the command prints with
    --json. True where the answer is yes."""

    answer: Answer
    json: Dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.answer is Answer.YES


@dataclass(frozen=True)
class Comparison(Report):
    """Two files or folders, compared to the last bit."""

    a: str
    b: str
    _handle: _library.Handle = field(repr=False, compare=False)

    @property
    def identical(self) -> bool:
        """False also where something could not be read: then the answer is unknown."""
        return self.answer is Answer.YES

    def _form(self, form: bytes) -> str:
        return str(_library.call_text("ls_comparison_report", self._handle.address, form))

    def text(self) -> str:
        return self._form(b"text")

    def html(self) -> str:
        """A page with tables and histograms that needs no other file."""
        return self._form(b"html")

    def markdown(self) -> str:
        return self._form(b"markdown")


def compare(a: Path, b: Path, *, ignore: Union[str, Sequence[str]] = (), tolerance: Union[str, Sequence[str]] = (),
            threads: Optional[int] = None) -> Comparison:
    """Two files or folders, to the last bit, as `lockstep compare` does. ignore: globs of
    names that are left out. tolerance: rules as the command line has them; `identical`
    stays exact, and `json["tolerance"]` has the verdict within them."""
    options = _options("compare", {"ignore": _several(ignore), "tolerance": _several(tolerance), "threads": threads})
    handle = _library.Handle("ls_comparison_free")
    _library.call("ls_comparison_new", os.fsencode(a), os.fsencode(b), options.address, handle.ret)
    answer = Answer(_library.library().ls_comparison_answer(handle.address))
    document = json.loads(_library.call_text("ls_comparison_report", handle.address, b"json"))
    return Comparison(answer, document, os.fsdecode(a), os.fsdecode(b), handle)


def _several(words: Union[str, Sequence[str]]) -> Sequence[str]:
    return [words] if isinstance(words, str) else list(words)


@dataclass(frozen=True)
class Diagnosis(Report):
    """This machine. The answer is over what the spec requires, or cuda; without either
    there is nothing to judge, and it is yes."""

    @property
    def facts(self) -> Dict[str, Dict[str, Any]]:
        """By key; each has its value and source, or why it is unknown."""
        return {fact["key"]: fact for fact in self.json["facts"]}

    @property
    def findings(self) -> Sequence[Dict[str, Any]]:
        return list(self.json["findings"])


def doctor(spec: Optional[Path] = None, *, cuda: bool = False, python: Optional[Path] = None, deep: bool = False,
           tables: Optional[Path] = None, symptom: Optional[str] = None) -> Diagnosis:
    """What this machine has and what does not fit, as `lockstep doctor`. python: the
    interpreter to look at, this one if none is named. spec: a shipped spec by name, or a
    file."""
    options = _options("doctor", {"spec": spec, "cuda": cuda, "python": python or sys.executable or None, "deep": deep,
                                  "tables": tables, "symptom": symptom})
    environment = _library.strings(environment_words())
    text, answer = _library.call_text("ls_doctor", options.address, environment, answer=True)
    return Diagnosis(Answer(answer), json.loads(text))


def environment_words() -> Sequence[str]:
    return ["%s=%s" % pair for pair in os.environ.items()]


def spec_check(spec: Path, *, today: Optional[str] = None) -> Report:
    """Whether a spec, shipped or in a file, is sound, as `lockstep spec check`. today:
    the day (YYYY-MM-DD) that ends of life are judged by."""
    options = _options("spec check", {"today": today})
    text, answer = _library.call_text("ls_spec_judge", os.fsencode(spec), options.address, answer=True)
    return Report(Answer(answer), json.loads(text))


def plan(**options: Union[None, bool, int, float, str]) -> Report:
    """The same training on other GPUs, as `lockstep plan`; options are those of the
    command line with `_` for `-`, and `from_` for from:

        lockstep.plan(from_="L40S:4", to="H200:2", batch=32, precision="bf16")

    The answer is no where the global batch cannot stay."""
    values = {name[:-1] if name.endswith("_") else name: value for name, value in options.items()}
    handle = _options("plan", values)
    text, answer = _library.call_text("ls_plan_judge", handle.address, answer=True)
    return Report(Answer(answer), json.loads(text))


def manifest_diff(a: Path, b: Path) -> Report:
    """What two runs had different, by their manifests, as `lockstep manifest diff`. The
    answer is no where something differs that can change bits."""
    text, answer = _library.call_text("ls_manifest_explain", os.fsencode(a), os.fsencode(b), answer=True)
    return Report(Answer(answer), json.loads(text))
