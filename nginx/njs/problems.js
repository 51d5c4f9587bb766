// Built from src/errors/gateway-errors.ts. Edit that file instead.
export default {
  "400": {
    "code": "invalid_request",
    "title": "Invalid request",
    "retryable": false,
    "detail": "The request is malformed or its URL or headers are too long. Check how the query is encoded.",
    "errors": [
      {
        "field": "request",
        "message": "is malformed or too long"
      }
    ]
  },
  "401": {
    "code": "unauthorized",
    "title": "A key is needed",
    "retryable": false,
    "detail": "This server requires an access key. Send the key from its operator as \"Authorization: Bearer KEY\"."
  },
  "404": {
    "code": "not_found",
    "title": "No such endpoint",
    "retryable": false,
    "detail": "There is nothing at this path. See {basePath}/docs for the endpoints."
  },
  "405": {
    "code": "method_not_allowed",
    "title": "Method not allowed",
    "retryable": false,
    "detail": "This path does not support this method. Use one listed in the Allow header."
  },
  "412": {
    "code": "precondition_failed",
    "title": "Condition not met",
    "retryable": false,
    "detail": "The current file does not meet the If-Match or If-Unmodified-Since header of the request. Send the request without it."
  },
  "413": {
    "code": "file_too_large",
    "title": "The file is too large",
    "retryable": false,
    "detail": "The request body is larger than this service accepts. Send a smaller file."
  },
  "416": {
    "code": "range_not_satisfiable",
    "title": "Nothing at this range",
    "retryable": false,
    "detail": "The file ends before the range that the request asks for. Send the request without a Range header."
  },
  "429": {
    "code": "rate_limited",
    "title": "Too many requests",
    "retryable": true,
    "retryAfterSeconds": 2
  },
  "496": {
    "status": 400,
    "code": "invalid_request",
    "title": "Invalid request",
    "retryable": false,
    "detail": "This server requires a TLS certificate of the client. Send one that its operator accepts.",
    "errors": [
      {
        "field": "request",
        "message": "needs a valid client certificate"
      }
    ]
  },
  "497": {
    "status": 400,
    "code": "invalid_request",
    "title": "Invalid request",
    "retryable": false,
    "detail": "This port expects HTTPS, and the request is plain HTTP. Use https:// in the URL.",
    "errors": [
      {
        "field": "request",
        "message": "must use HTTPS"
      }
    ]
  },
  "500": {
    "code": "internal_error",
    "title": "Internal error",
    "retryable": false,
    "detail": "The gateway failed unexpectedly. Report it with the requestId."
  },
  "501": {
    "status": 400,
    "code": "invalid_request",
    "title": "Invalid request",
    "retryable": false,
    "detail": "This server does not support the Transfer-Encoding of the request. Use \"chunked\", or send a Content-Length.",
    "errors": [
      {
        "field": "Transfer-Encoding",
        "message": "must be chunked"
      }
    ]
  },
  "502": {
    "code": "service_unavailable",
    "title": "The service does not respond",
    "retryable": true,
    "retryAfterSeconds": 5,
    "detail": "The service behind the gateway is not reachable: it is starting, restarting or stopped. Try again in a few seconds; {basePath}/api/health shows which service it is."
  },
  "503": {
    "code": "overloaded",
    "title": "The service is busy",
    "retryable": true,
    "retryAfterSeconds": 5,
    "detail": "The gateway cannot accept this request now. Try again in a few seconds."
  },
  "504": {
    "code": "timeout",
    "title": "The work took too long",
    "retryable": true,
    "detail": "The service did not respond within the gateway's deadline. Try again later."
  },
  "505": {
    "status": 400,
    "code": "invalid_request",
    "title": "Invalid request",
    "retryable": false,
    "detail": "This server does not support the HTTP version of the request line. Use HTTP/1.1.",
    "errors": [
      {
        "field": "request",
        "message": "must use HTTP/1.1"
      }
    ]
  },
  "590": {
    "status": 500,
    "code": "internal_error",
    "title": "Internal error",
    "retryable": false,
    "detail": "The gateway cannot read its file of access keys. Try again later. If you run this server: check that the file in API_KEYS_FILE exists and that the gateway may read it."
  }
};
