"""A resident process that keeps yt-dlp imported and extracts one page at a time.

Parent -> engine, one JSON object a line:
    {"type": "run", "id": 1, "job": {"kind": "extract", "url": ..., ...}}
    {"type": "cancel", "id": 1}
Engine -> parent:
    {"type": "ready", "version": ..., "ageDays": ..., "javascriptRuntime": ...}
    {"id": 1, "ok": true, "result": {...}}
    {"id": 1, "ok": false, "error": {"kind": ..., "message": ..., ...}}

End of input ends the process at once, even in the middle of a job.
"""
