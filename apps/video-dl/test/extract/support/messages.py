"""Prints the messages that modules of the installed yt-dlp can fail with, as a JSON object of lists.

Arguments: paths below the package, such as `extractor/vimeo.py`. A value that is only known
at run time stands as `…`.
"""

import ast
import json
import os
import sys

import yt_dlp

# Calls whose arguments become the message of a failure or warning.
CALLS = {
    'ExtractorError', 'raise_geo_restricted', 'raise_login_required', 'raise_no_formats', 'report_drm', 'report_warning',
    'UserNotLive',
}


def text_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return ''.join(text_of(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left) + text_of(node.right)
    return '…'


def texts_in(node):
    if isinstance(node, ast.BoolOp):
        return [text_of(value) for value in node.values]
    return [text_of(node)]


def messages_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, 'attr', getattr(node.func, 'id', None)) in CALLS:
            for argument in [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == 'msg')]:
                yield from texts_in(argument)
        elif isinstance(node, ast.FunctionDef) and node.name in CALLS:
            for default in filter(None, (*node.args.defaults, *node.args.kw_defaults)):
                yield text_of(default)
        elif isinstance(node, ast.Assign):
            # Concatenated texts.
            yield text_of(node.value)


def messages_in(path):
    with open(os.path.join(yt_dlp.__path__[0], path), encoding='utf-8') as file:
        return sorted({text for text in messages_of(ast.parse(file.read())) if ' ' in text})


print(json.dumps({path: messages_in(path) for path in sys.argv[1:]}))
