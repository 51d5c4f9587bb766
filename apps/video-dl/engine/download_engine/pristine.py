"""Resets the extractors to their state after import.

Some keep session tokens in attributes of their class or module (AbemaTV, Iwara, Viu),
where the next job would find them.
"""

import copy
import sys

_PREFIX = 'yt_dlp.extractor.'
_PLAIN = (type(None), bool, int, float, str, bytes)
_CONTAINERS = (dict, list, set)
# Large, and never used as state.
_EXEMPT = {'_TEST', '_TESTS', '_WEBPAGE_TESTS'}

# Per owner (a module or class): its values by name, as (value, copy of a container or None).
_remembered = {}
# Per owner, in the order of `_remembered`: its namespace, and the same with copies of the containers. Comparing the
# two lists detects any change.
_namespaces = []
_snapshots = []
_modules = set()
_modules_seen = 0


def remember():
    """Records the state of every extractor module imported since the last call."""
    global _modules_seen
    if len(sys.modules) == _modules_seen:
        return
    _modules_seen = len(sys.modules)
    for name in [name for name in sys.modules if name.startswith(_PREFIX) and name not in _modules]:
        module = sys.modules[name]
        _modules.add(name)
        for owner in (module, *_classes(module)):
            if owner in _remembered:
                continue
            saved = _remembered[owner] = {key: _saved(value) for key, value in _data(owner)}
            _namespaces.append(vars(owner))
            _snapshots.append(_snapshot(owner, saved))


def restore():
    """Reverts every change and records the state of new modules."""
    if not _are_equal(_namespaces, _snapshots):
        for number, (owner, saved) in enumerate(_remembered.items()):
            if not _are_equal(_namespaces[number], _snapshots[number]):
                _put_back(owner, saved)
                _snapshots[number] = _snapshot(owner, saved)
    remember()


def _are_equal(namespaces, snapshots):
    try:
        return namespaces == snapshots
    except Exception:
        # A value that can't be compared may have changed.
        return False


def _put_back(owner, saved):
    for key, _ in _data(owner):
        if key not in saved:
            delattr(owner, key)
    for key, (value, content) in saved.items():
        if content is not None and value != content:
            _refill(value, content)
        if vars(owner).get(key, _remembered) is not value:
            setattr(owner, key, value)


def _snapshot(owner, saved):
    copies = {key: content for key, (_, content) in saved.items() if content is not None}
    return {**vars(owner), **copies}


def _classes(module):
    return [value for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__]


def _data(owner):
    return [(key, value) for key, value in vars(owner).items()
            if not key.startswith('__') and key not in _EXEMPT and type(value) in (*_PLAIN, *_CONTAINERS)]


def _saved(value):
    if type(value) not in _CONTAINERS:
        return value, None
    try:
        return value, copy.deepcopy(value)
    except (TypeError, RecursionError):
        # Contains something that can't be copied, such as a lock, so copy only the top level.
        return value, copy.copy(value)


def _refill(value, content):
    fresh = copy.deepcopy(content)
    value.clear()
    if isinstance(value, list):
        value.extend(fresh)
    else:
        value.update(fresh)
