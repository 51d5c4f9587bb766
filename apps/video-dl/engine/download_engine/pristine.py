"""Puts the extractors back into the state in which they were imported.

Some keep tokens of a session in attributes of their class or module (AbemaTV, Iwara,
Viu), where the next job would find them.
"""

import copy
import sys

_PREFIX = 'yt_dlp.extractor.'
_PLAIN = (type(None), bool, int, float, str, bytes)
_CONTAINERS = (dict, list, set)

# Per owner (a module or a class): its data by name, containers as (object, copy).
_remembered = {}
_modules = set()


def remember():
    """Notes the state of every extractor module that was imported since the last call."""
    for name in [name for name in sys.modules if name.startswith(_PREFIX) and name not in _modules]:
        module = sys.modules[name]
        _modules.add(name)
        for owner in (module, *_classes(module)):
            _remembered[owner] = {key: _saved(value) for key, value in _data(owner)}


def restore():
    """Undoes what has changed since, and remembers what is new."""
    for owner, saved in _remembered.items():
        for key, _ in _data(owner):
            if key not in saved:
                delattr(owner, key)
        for key, (value, content) in saved.items():
            if content is not None and value != content:
                _refill(value, content)
            if vars(owner).get(key, _remembered) is not value:
                setattr(owner, key, value)
    remember()


def _classes(module):
    return [value for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__]


def _data(owner):
    return [(key, value) for key, value in vars(owner).items()
            if not key.startswith('__') and type(value) in (*_PLAIN, *_CONTAINERS)]


def _saved(value):
    if type(value) not in _CONTAINERS:
        return value, None
    try:
        return value, copy.deepcopy(value)
    except (TypeError, RecursionError):
        # Holds something that has no copy, such as a lock: its own entries are what can be kept.
        return value, copy.copy(value)


def _refill(value, content):
    fresh = copy.deepcopy(content)
    value.clear()
    if isinstance(value, list):
        value.extend(fresh)
    else:
        value.update(fresh)
