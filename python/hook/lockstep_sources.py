"""What a program was made of: its own source files with their digests, and the versions
of the packages it imported.

Read at the end of an interpreter, when everything has been imported. A file of the
program's own is one that lies neither in the standard library nor among installed
packages; whether git knows it does not matter.
"""
import os
import sys

_MOST_FILES, _MOST_BYTES = 4096, 16 << 20
_CONFIGS = (".py", ".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".gin")


def _is_installed(path):
    path += os.sep
    return "/site-packages/" in path or "/dist-packages/" in path


def _module_files():
    for module in list(sys.modules.values()):
        try:
            path = getattr(module, "__file__", None)
        except Exception:  # pylint: disable=broad-except
            continue  # a module that makes its attributes itself, and fails
        if isinstance(path, str):
            yield path
    main = sys.modules.get("__main__")
    script = getattr(getattr(main, "__loader__", None), "path", None)  # __file__ is gone by now
    if isinstance(script, str):
        yield script


def _argument_files():
    """Files that the command line names: configurations that the program reads or
    executes."""
    for word in getattr(sys, "argv", ())[1:]:
        word = word.split("=")[-1]
        if word.endswith(_CONFIGS) and os.path.isfile(word):
            yield word


def _digest(path):
    import hashlib
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def _temporary(path):
    """Whether a library wrote this file during the run, for itself: folders for that
    have random names."""
    return path.startswith(("/tmp/", "/var/tmp/", os.environ.get("TMPDIR", "/tmp") + os.sep))


class _Own:
    """Which paths are the program's own. Most modules are installed, so that is asked
    first and by folder."""

    def __init__(self, skip):
        plain = os.path.dirname(os.__file__)
        script = os.path.dirname(os.path.abspath(sys.argv[0] if sys.argv else ""))
        named = [os.path.abspath(p) for p in sys.path if isinstance(p, str)]
        self._libraries = (plain + os.sep, os.path.realpath(plain) + os.sep)
        self._here = tuple(p + os.sep for p in [os.getcwd(), script] + named)
        self._folders = {skip: False}

    def _folder(self, folder):
        if _is_installed(folder) or (folder + os.sep).startswith(self._libraries):
            return False
        real = os.path.realpath(folder) + os.sep
        return not real.startswith(self._libraries) and not _is_installed(real)

    def __call__(self, path):
        folder = path[:path.rfind(os.sep)]
        if folder not in self._folders:
            self._folders[folder] = self._folder(folder)
        if not self._folders[folder] or (_temporary(path) and not path.startswith(self._here)):
            return False
        return not os.path.islink(path) or self._folder(os.path.dirname(os.path.realpath(path)))


def own_files(started, skip):
    """{path: digest} of the program's own files; one that was changed after the
    interpreter started says so."""
    found, own = {}, _Own(skip)
    for path in list(_module_files()) + list(_argument_files()):
        if not path.startswith(os.sep):
            path = os.path.abspath(path)
        if path in found or not own(path) or len(found) >= _MOST_FILES:
            continue
        path = os.path.abspath(path)
        try:
            stat = os.stat(path)
            if stat.st_size > _MOST_BYTES:
                continue
            found[path] = _digest(path) + (" changed during the run" if stat.st_mtime > started else "")
        except OSError:
            pass  # a name that is no file: torch has such modules
    return found


# --- packages -------------------------------------------------------------------------------------------------------


def _plain(name):
    return name.lower().replace("-", "_").replace(".", "_")


def _imported_packages():
    """{folder of packages: {top-level names imported from there}}"""
    found = {}
    for name, module in list(sys.modules.items()):
        if "." in name or name[0] == "_" or module is None:
            continue  # a private one belongs to another that is imported, too
        spec = getattr(module, "__spec__", None)
        path = getattr(spec, "origin", None) or getattr(module, "__file__", None)
        if not isinstance(path, str) or not _is_installed(path):
            continue
        folder = os.path.dirname(path)
        if os.path.basename(folder) not in ("site-packages", "dist-packages"):
            folder = os.path.dirname(folder)
        found.setdefault(folder, set()).add(name)
    return found


def _read(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def _listed(folder, info, names):
    """Those of the names that a distribution says it installed: at first by the small
    file, which older ones have."""
    tops = set(_read(folder, info, "top_level.txt").split())
    return names & tops


def _recorded(folder, info, names):
    record = "\n" + _read(folder, info, "RECORD")
    return {n for n in names if "\n%s/" % n in record or "\n%s." % n in record}


def packages():
    """{distribution: version} of every one that a module was imported from."""
    found = {}
    for folder, names in _imported_packages().items():
        try:
            infos = [e for e in os.listdir(folder) if e.endswith(".dist-info") and "-" in e]
        except OSError:
            continue
        by_name = {_plain(i[:-10].split("-")[0]): i for i in infos}
        used = {by_name[_plain(n)] for n in names if _plain(n) in by_name}
        left = {n for n in names if _plain(n) not in by_name}
        for look in (_listed, _recorded):
            for info in sorted(used) + infos:  # a package that is used often brings the others
                here = look(folder, info, left) if left else None
                if here:
                    used.add(info)
                    left -= here
        for info in used:
            name, _, version = info[:-10].partition("-")
            found[name] = version
    return dict(sorted(found.items()))
