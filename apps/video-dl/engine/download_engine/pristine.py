"""Resets the extractors to their state after import.

Some keep session tokens in attributes of their class or module (AbemaTV, Iwara, Viu),
where the next job would find them.
"""

import copy
import sys

_PREFIX = 'yt_dlp.extractor.'
_CONTAINERS = (dict, list, set)
_DATA = (type(None), bool, int, float, str, bytes, *_CONTAINERS)
# Large, and never used as state.
_EXEMPT = {'_TEST', '_TESTS', '_WEBPAGE_TESTS'}

# Per owner (a module or class): its namespace, and the same with copies of the containers.
_remembered = {}
_seen = set()


def remember():
    """Records the state of every extractor module imported since the last call."""
    for name in sys.modules.keys() - _seen:
        _seen.add(name)
        if name.startswith(_PREFIX):
            module = sys.modules[name]
            for owner in (module, *_classes(module)):
                _remembered.setdefault(owner, _snapshot(owner))


def restore():
    """Reverts every change and records the state of new modules."""
    for owner, (namespace, copies) in _remembered.items():
        if vars(owner) != copies:
            _put_back(owner, namespace, copies)
            _remembered[owner] = _snapshot(owner)
    remember()


def _put_back(owner, namespace, copies):
    for key in _data(vars(owner)).keys() - namespace.keys():
        delattr(owner, key)
    for key, value in _data(namespace).items():
        if type(value) in _CONTAINERS and value != copies[key]:
            value.clear()
            (value.extend if isinstance(value, list) else value.update)(copies[key])
        if vars(owner).get(key, _remembered) is not value:
            setattr(owner, key, value)


def _classes(module):
    return [value for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__]


def _snapshot(owner):
    namespace = dict(vars(owner))
    copies = {key: copy.deepcopy(value) for key, value in _data(namespace).items() if type(value) in _CONTAINERS}
    return namespace, {**namespace, **copies}


def _data(namespace):
    return {key: value for key, value in namespace.items()
            if not key.startswith('__') and key not in _EXEMPT and type(value) in _DATA}
