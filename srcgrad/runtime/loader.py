"""From the text of a generated module to the module.

Every generated module is importable as `srcgrad.generated.<name>_<digest>`, so that tracebacks,
`inspect`, pdb, pickle and Numba's cache treat it as any other.  Owns the finder that makes it so.
Modules that were given live objects are apart: their names mean something in this process only.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import os
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from srcgrad.errors import CacheError
from srcgrad.runtime import cache

PACKAGE = "srcgrad.generated"
_MOST_INJECTED = 512  # modules with live objects that are kept for the next call that needs them


@dataclass(frozen=True, eq=False)
class _Text:
    """A module that can be made in this process, and what it is made of."""

    text: str
    path: str
    inject: Mapping[str, Any]


_texts: dict[str, _Text] = {}  # by the module's full name
_injected: OrderedDict[str, ModuleType] = OrderedDict()  # least recently asked for first
_lock = threading.RLock()


def load(name: str, text: str, inject: Mapping[str, Any] | None = None) -> ModuleType:
    """The module of a generated text, run once for each text and set of injected objects.

    >>> module = load("example", "def f(x):\\n    return k * x\\n", {"k": 3})
    >>> module.f(2)
    6

    Arguments: a name for people to read; the text; live objects that the text refers to by name,
    there before it runs.  The same objects give the same module; others, another.
    Returns: the module, which is in `sys.modules` too.
    """
    objects = dict(inject or {})
    module = cache.module_name(name, text)
    full = f"{PACKAGE}.{module}{_tag(objects)}"
    with _lock:
        known = _injected.get(full) if objects else None
        if known is not None:
            _injected.move_to_end(full)
            return known
        loaded = sys.modules.get(full)
        if loaded is not None and not _is_being_made(loaded):
            if _is_current(loaded):
                return loaded
            del sys.modules[full]
        if full not in _texts:
            _texts[full] = _Text(text, _path(name, module, text), objects)
    try:
        made = importlib.import_module(full)
    except BaseException:
        _texts.pop(full, None)
        raise
    if objects:
        _keep(full, made)
    return made


def _tag(objects: Mapping[str, Any]) -> str:
    """Tells apart modules of one text by the identities of the objects given to them, which the
    module keeps alive, so that no other object gets the same while it is known."""
    if not objects:
        return ""
    key = repr(sorted((name, id(value)) for name, value in objects.items()))
    return "__" + hashlib.sha256(key.encode()).hexdigest()[:16]


def untagged(module: str) -> str:
    """The name of a generated module without what tells it apart in this process.

    >>> untagged("srcgrad.generated.f_0123456789abcdef__0123456789abcdef")
    'srcgrad.generated.f_0123456789abcdef'
    """
    return re.sub("__[0-9a-f]{16}$", "", module) if module.startswith(f"{PACKAGE}.") else module


def _is_being_made(module: ModuleType) -> bool:
    """Another thread is running it just now; importing it waits for the end."""
    return bool(getattr(module.__spec__, "_initializing", False))


def _is_current(module: ModuleType) -> bool:
    """Whether the modules that it imported are those that an import would find now."""
    used = [v for v in vars(module).values() if isinstance(v, ModuleType)]
    return all(sys.modules.get(m.__name__, m) is m for m in used)


def _path(name: str, module: str, text: str) -> str:
    stored = cache.store(name, text)
    if stored is not None:
        return str(stored)
    # Names a file, as `linecache` asks of a module's loader only then, but none that exists.
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), "memory", f"{module}.py")


def _keep(full: str, module: ModuleType) -> None:
    """Closures are made anew by every call of their maker: modules of those long gone must go.
    Their functions, where someone still has them, go on working."""
    with _lock:
        _injected[full] = module
        _injected.move_to_end(full)
        while len(_injected) > _MOST_INJECTED:
            oldest, _ = _injected.popitem(last=False)
            _texts.pop(oldest, None)
            sys.modules.pop(oldest, None)
            generated = sys.modules.get(PACKAGE)
            if generated is not None:
                vars(generated).pop(oldest.rpartition(".")[2], None)


class _Loader:
    """Runs a text, and shows it to whoever asks: `inspect`, `linecache`, pdb.

    An `importlib.abc.InspectLoader` without its base, whose import takes as long as ours."""

    def __init__(self, source: _Text) -> None:
        self._source = source

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self._source.inject)
        exec(self.get_code(module.__name__), vars(module))

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self._source.text, self._source.path, "exec", dont_inherit=True)
        return code

    def get_source(self, fullname: str) -> str:
        return self._source.text

    def get_filename(self, fullname: str) -> str:
        return self._source.path

    def get_data(self, path: str) -> bytes:
        return self._source.text.encode("utf-8", "surrogatepass")

    def is_package(self, fullname: str) -> bool:
        return False


class _Finder:
    """Finds generated modules, and only those whose file is whole and the user's own.

    Python's own finder would import whatever lies in the directory under the right name.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, module = fullname.rpartition(".")
        if package != PACKAGE:
            return None
        source = _texts.get(fullname) or _stored(fullname, module)
        loader: Any = _Loader(source)
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=source.path)
        spec.has_location = True
        return spec


def _stored(fullname: str, module: str) -> _Text:
    try:
        found = cache.fetch(module)
    except CacheError as error:
        raise ModuleNotFoundError(str(error), name=fullname) from error
    if found is None:
        raise ModuleNotFoundError(
            f"no generated module {module}: it is not in the cache {cache.info().path}, or that "
            "isn't the one it was made in; differentiate the function again",
            name=fullname,
        )
    text, path = found
    return _Text(text, str(path), {})


def install() -> None:
    """Puts the finder in place; done by importing `srcgrad.generated`, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def search_path() -> list[str]:
    """Where generated modules are, as the `__path__` of their package."""
    directory = cache.usable()
    return [] if directory is None else [str(directory)]
