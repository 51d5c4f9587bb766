"""Describes an exception so that the parent can classify its cause."""

import re

_ANSI = re.compile(r'\x1b\[[0-9;]*m')
_MESSAGE_CHARACTERS = 2_000
_CAUSES = 10
_KINDS = 60


def describe(error, warnings=()):
    """{"kind", "kinds", "message", "httpStatus", "causes", "warnings", "itemCount"} of an exception.

    `kinds` lists the classes of the exception and its causes with their bases. `causes` has
    the messages of the causes.
    """
    error = _unwrap(error)
    chain = list(_chain(error))
    return {
        'kind': type(error).__name__,
        'kinds': [cls.__name__ for cause in chain for cls in type(cause).__mro__
                  if cls not in (object, BaseException, Exception)][:_KINDS],
        'message': _clean(getattr(error, 'orig_msg', None) or getattr(error, 'msg', None) or error),
        'httpStatus': next((s for s in map(_status, chain) if s is not None), None),
        'causes': [_clean(cause) for cause in chain[1:_CAUSES]],
        'warnings': [_clean(warning) for warning in warnings],
        'itemCount': getattr(error, 'count', None) if type(error).__name__ == 'NoSuchItemError' else None,
    }


def _unwrap(error):
    """The original exception inside a DownloadError, which yt-dlp raises while it handles the original."""
    if type(error).__name__ == 'DownloadError':
        return error.__context__ or error
    return error


def _chain(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        reason = getattr(error, 'reason', None)
        error = (getattr(error, 'cause', None) or error.__cause__
                 or (reason if isinstance(reason, BaseException) else None) or error.__context__)


def _status(error):
    for name in ('status', 'code'):
        value = getattr(error, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _clean(message):
    text = _ANSI.sub('', str(message)).encode('utf-8', 'replace').decode('utf-8')
    return re.sub(r'^ERROR:\s*', '', text)[:_MESSAGE_CHARACTERS]
