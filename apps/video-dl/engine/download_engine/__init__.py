"""A resident process that keeps yt-dlp imported and extracts one page at a time.

Parent -> engine, one JSON object per line:
    {"type": "run", "id": 1, "job": {"kind": "extract", "url": ..., ...}}
    {"type": "cancel", "id": 1}
Engine -> parent:
    {"type": "ready", "version": ..., "ageDays": ..., "javascriptRuntime": ...}
    {"id": 1, "ok": true, "result": {...}}
    {"id": 1, "ok": false, "error": {"kind": ..., "message": ..., ...}}

The process exits at the end of its input, even in the middle of a job.
"""
