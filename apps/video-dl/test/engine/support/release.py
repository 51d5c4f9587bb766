"""Makes wheels of a yt-dlp release out of the installed one: `release.py FOLDER VERSION KIND`.

KIND: `good`; `broken`, which cannot be imported; `fickle`, which can be imported once.
"""

import importlib.util
import os
import sys
import zipfile

FAULTS = {
    'good': '',
    'broken': 'raise ImportError("a broken release")\n',
    'fickle': 'import os\nopen(os.path.join(os.path.dirname(__file__), "started"), "x").close()\n',
}


def wheel(folder, package, name, version, start='', version_module=None):
    source = os.path.dirname(importlib.util.find_spec(package).origin)
    info = f'{package}-{version}.dist-info'
    with zipfile.ZipFile(os.path.join(folder, f'{package}-{version}-py3-none-any.whl'), 'w', zipfile.ZIP_STORED) as out:
        for root, _folders, files in os.walk(source):
            for file in files:
                path = os.path.join(root, file)
                inside = os.path.join(package, os.path.relpath(path, source))
                if file.endswith('.pyc'):
                    continue
                with open(path, 'rb') as content:
                    data = content.read()
                if inside == f'{package}/__init__.py':
                    # After the lines that have to come first (from __future__).
                    data = data + b'\n' + start.encode()
                if inside == version_module:
                    data = data + f'\n__version__ = {version!r}\n'.encode()
                out.writestr(inside, data)
        out.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n')
        out.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        out.writestr(f'{info}/RECORD', '')


folder, version, kind = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
wheel(folder, 'yt_dlp', 'yt-dlp', version, FAULTS[kind], 'yt_dlp/version.py')
wheel(folder, 'yt_dlp_ejs', 'yt-dlp-ejs', '0.8.0')
