# Validates the operator's settings and prints the variables of templates/ as NAME=value lines.
# Used by the container's entrypoint and by `npm start`: awk -f settings.awk settings.tsv Every
# problem is a line on stderr; the exit code is then 78 (EX_CONFIG).

BEGIN {
    FS = "\t"
    split("B KB MB GB KiB MiB GiB", unit_names, " ")
    split("1 1000 1000000 1000000000 1024 1048576 1073741824", unit_sizes, " ")
    for (i in unit_names) bytes_in[unit_names[i]] = unit_sizes[i]
    bytes_in[""] = 1
    split("s m h", unit_names, " ")
    seconds_in[""] = seconds_in["s"] = 1
    seconds_in["m"] = 60
    seconds_in["h"] = 3600
    multipart_room_bytes = 1048576
}

/^#/ || NF == 0 { next }

{
    name = $1
    known[name]
    count = split($2, kind, " ")
    value = ENVIRON[name]
    gsub(/^[ \t]+|[ \t]+$/, "", value)
    if (value == "") value = $3
    read(name, kind[1], kind[2], kind[3], value)
}

END {
    put("GATEWAY_WORKERS", workers())
    put("GATEWAY_READ_TIMEOUT", read_timeout())
    put("GATEWAY_SHUTDOWN_TIMEOUT", shutdown_timeout())
    put("GATEWAY_OPEN_FILES", open_files())
    put("GATEWAY_CONNECTIONS", open_files() / 2)
    for (given in ENVIRON) if (ENVIRON[given] != "" && !(given in known)) lookalike(given)
    if (failed) exit 78
}

# Reports a variable that looks like a setting.
function lookalike(given,    setting) {
    for (setting in known)
        if (length(given) >= 8 && length(setting) >= 8 && (index(setting, given) == 1 && length(setting) - length(given) <= 4 || index(given, setting "_") == 1 || one_typo(given, setting)))
            print given " is not a setting and does nothing. Did you mean " setting "?" >"/dev/stderr"
}

# Whether two names differ in one letter, or one of them has one more.
function one_typo(left, right,    i) {
    i = 1
    while (i <= length(left) && substr(left, i, 1) == substr(right, i, 1)) i++
    left = substr(left, i)
    right = substr(right, i)
    return substr(left, 2) == substr(right, 2) || left == substr(right, 2) || substr(left, 2) == right
}

function read(name, kind, low, high, value) {
    if (kind == "integer") {
        if (value !~ /^[0-9]+$/ || value + 0 < low + 0 || value + 0 > high + 0)
            return wrong(name, "a whole number from " low " to " high, value)
        # nginx has no rate of 0, but does not count requests with an empty key.
        if (name == "VIDEO_REQUESTS_PER_MINUTE") {
            put("GATEWAY_VIDEO_LIMIT", value + 0)
            put("GATEWAY_VIDEO_REQUESTS_KEY", value + 0 == 0 ? "$nobody" : "$client_key")
            if (value + 0 == 0) value = 1
            put("GATEWAY_VIDEO_BURST", value < 6 ? 1 : int(value / 3))
        }
        if (name == "STREAMS_PER_CLIENT") {
            # A client that waits for one lookup before it starts the next may have its next one
            # counted before its last is counted out, since nginx has several processes.
            put("GATEWAY_LOOKUPS_PER_CLIENT", value * 2)
            put("GATEWAY_REQUESTS_PER_CLIENT", value * 16)
        }
        return put(name, value + 0)
    }
    if (kind == "port" && (value !~ /^[0-9]+$/ || value + 0 < 1 || value + 0 > 65535)) return wrong(name, "a port from 1 to 65535", value)
    if (kind == "bytes") {
        if ((size = amount(value, bytes_in)) < 1 || size > 9007199254740991) return wrong(name, "a size such as 15MiB or 20000000", value)
        return put("GATEWAY_MAX_BODY_SIZE", sprintf("%.0f", size + multipart_room_bytes))
    }
    if (kind == "path") {
        if (value == "/") value = ""
        if (value != "" && value !~ /^(\/[A-Za-z0-9_~-]+)+$/)
            return wrong(name, "a path such as /media, without a slash at its end and without dots", value)
        if (value ~ /^\/(api|docs|internal|video-dl|bg-removal|css|js|icons|samples)(\/|$)/)
            return wrong(name, "a path that the gateway itself does not use", value)
        return put(name, value)
    }
    if (kind == "images") {
        if (value !~ /^[0-9]+$/ || value + 0 > high + 0) return wrong(name, "a whole number from " low " to " high, value)
        # The service enforces the exact limit; the gateway keeps floods of rejected requests away
        # from it.
        put("GATEWAY_IMAGE_REQUESTS_KEY", value + 0 == 0 ? "$nobody" : "$client_key")
        return put("GATEWAY_IMAGE_REQUESTS_RATE", value * 4 > 60 ? value * 4 : 60)
    }
    if (kind == "keys") return keys(name, value)
    if (kind == "services") return services(name, value)
    if (kind == "networks") return networks(name, value)
    if (kind == "origins") return origins(name, value)
    if (kind == "hosts") return hosts(name, value)
    if (kind == "secret") {
        if (value != "" && (value !~ /^[A-Za-z0-9_-]+$/ || length(value) < 16 || length(value) > 128))
            return wrong(name, "16 to 128 letters, digits, - or _", "(hidden)")
        return put(name, value)
    }
}

# One per available core, at least two, so that a busy worker blocks nobody, and at most 16, which
# is enough for any network.
function workers(    cores, quota, count) {
    count = 0
    while ((getline line < "/proc/cpuinfo") > 0) if (line ~ /^processor/) count++
    close("/proc/cpuinfo")
    if ((getline line < "/sys/fs/cgroup/cpu.max") > 0) {
        split(line, quota, " ")
        if (quota[1] != "max") cores = quota[1] / quota[2]
        if (cores > 0 && cores < count) count = int(cores + 0.999)
    }
    return count < 2 ? 2 : count > 16 ? 16 : count
}

# Longer than the services' deadlines, so that they can send their own problems. The services have
# the same environment under compose and `npm start`.
function read_timeout(    image, page, longest) {
    image = timeout("IMAGE_TIMEOUT_SECONDS")
    page = timeout("EXTRACTION_TIMEOUT_SECONDS") + timeout("FIRST_BYTE_TIMEOUT_SECONDS")
    longest = image > page ? image : page
    return sprintf("%.0fs", longest + 60 > 300 ? longest + 60 : 300)
}

# Like the services, the gateway lets running streams end before it breaks them off.
function shutdown_timeout(    grace) {
    grace = timeout("SHUTDOWN_GRACE_SECONDS")
    if (grace < 0) grace = 25
    # For nginx, 0 means no limit.
    return sprintf("%.0fms", grace > 0 ? grace * 1000 : 1)
}

# At most as many as the process may open.
function open_files(    words, files) {
    files = 32768
    while ((getline line < "/proc/self/limits") > 0)
        if (line ~ /^Max open files/ && split(line, words, " ") && words[5] + 0 > 0 && words[5] + 0 < files) files = words[5] + 0
    close("/proc/self/limits")
    return files - files % 2
}

# A service's setting in seconds.
function timeout(name,    value) {
    value = ENVIRON[name]
    gsub(/^[ \t]+|[ \t]+$/, "", value)
    return amount(value, seconds_in)
}

# Parses a text such as 15MiB or 2m; -1 if invalid.
function amount(text, factors,    number, unit) {
    if (text !~ /^[0-9]+(\.[0-9]+)?[ ]*[A-Za-z]*$/) return -1
    number = unit = text
    sub(/[ ]*[A-Za-z]*$/, "", number)
    sub(/^[0-9.]+[ ]*/, "", unit)
    return unit in factors ? number * factors[unit] : -1
}

function networks(name, value,    items, total, i, lines) {
    total = split(value, items, ",")
    for (i = 1; i <= total; i++) {
        gsub(/[ \t]/, "", items[i])
        if (items[i] == "") continue
        if (items[i] ~ /\/0+$/) return wrong(name, "the addresses of proxies; every client could then choose the address that it is counted by", items[i])
        if (!is_network(items[i])) return wrong(name, "addresses or CIDRs such as 10.0.0.0/8, separated by commas", items[i])
        lines = lines "set_real_ip_from " items[i] "; "
    }
    if (lines != "") lines = lines "real_ip_header X-Forwarded-For; real_ip_recursive on;"
    put("GATEWAY_REAL_IP", lines)
}

# The entries of a map from Host to 1 if it is unknown.
function hosts(name, value,    items, total, i, item, entries) {
    total = split(value, items, ",")
    for (i = 1; i <= total; i++) {
        item = tolower(items[i])
        gsub(/[ \t]/, "", item)
        if (item == "") continue
        if (item !~ /^([a-z0-9_-]+\.)*[a-z0-9_-]+$/) return wrong(name, "host names such as media.example.org, separated by commas, without a port", items[i])
        gsub(/\./, "\\.", item)
        entries = entries " \"~*^" item "(:[0-9]+)?$\" \"\";"
    }
    if (entries == "" && ENVIRON["HOST"] !~ /^(127\.[0-9.]+|::1|localhost)$/) return put("GATEWAY_HOSTS", "default \"\";")
    put("GATEWAY_HOSTS", "default 1; \"\" \"\"; \"~*^(localhost|[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+|\\[[0-9a-f:.]+\\])(:[0-9]+)?$\" \"\";" entries)
}

function services(name, value,    items, total, i, routes, list, seen) {
    total = split(value, items, ",")
    for (i = 1; i <= total; i++) {
        gsub(/[ \t]/, "", items[i])
        if (items[i] !~ /^(video-dl|bg-removal)$/) return wrong(name, "video-dl, bg-removal or both, separated by a comma", items[i])
        if (seen[items[i]]++) continue
        routes = routes "include " items[i] ".conf; "
        list = list (list == "" ? "" : ",") items[i]
    }
    # No resolver is asked about a service that isn't there.
    if (!seen["video-dl"]) put("VIDEO_DL_UPSTREAM", "127.0.0.1:1")
    if (!seen["bg-removal"]) put("BG_REMOVAL_UPSTREAM", "127.0.0.1:1")
    put("GATEWAY_ROUTES", routes)
    put(name, list)
}

function is_network(text,    parts, total) {
    total = split(text, parts, "/")
    if (total > 2 || (total == 2 && parts[2] !~ /^[0-9]+$/)) return 0
    if (parts[1] ~ /:/) return is_ipv6(parts[1]) && (total == 1 || parts[2] + 0 <= 128)
    return is_ipv4(parts[1]) && (total == 1 || parts[2] + 0 <= 32)
}

function is_ipv4(text,    octets, i) {
    if (text !~ /^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$/) return 0
    split(text, octets, ".")
    for (i = 1; i <= 4; i++) if (octets[i] + 0 > 255) return 0
    return 1
}

function is_ipv6(text,    groups, total, gaps, i) {
    if (match(text, /[0-9]+\.[0-9.]+$/)) {
        if (!is_ipv4(substr(text, RSTART))) return 0
        text = substr(text, 1, RSTART - 1) "0:0"
    }
    gaps = gsub(/::/, ":-:", text)
    sub(/^:-/, "-", text)
    sub(/-:$/, "-", text)
    total = split(text, groups, ":")
    for (i = 1; i <= total; i++) if (groups[i] != "-" && (length(groups[i]) > 4 || groups[i] !~ /^[0-9A-Fa-f]+$/)) return 0
    return gaps == 0 ? total == 8 : gaps == 1 && total <= 8
}

function origins(name, value,    items, total, i, origin, seen, entries) {
    if (value == "*") {
        put("GATEWAY_CORS_ORIGINS", "default \"*\";")
        put("GATEWAY_RESOURCE_POLICY", "cross-origin")
        return put("GATEWAY_CORS_VARY", "")
    }
    total = split(value, items, ",")
    for (i = 1; i <= total; i++) {
        gsub(/[ \t]/, "", items[i])
        if (items[i] == "") continue
        if (items[i] !~ /^https?:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]+)?$/)
            return wrong(name, "* or origins such as https://example.org, separated by commas, without a path", items[i])
        # As browsers send it: in lower case, without the default port.
        origin = tolower(items[i])
        sub(origin ~ /^http:/ ? ":80$" : ":443$", "", origin)
        if (!seen[origin]++) entries = entries "\"" origin "\" \"" origin "\"; "
    }
    put("GATEWAY_CORS_ORIGINS", "default \"\"; " entries)
    put("GATEWAY_RESOURCE_POLICY", "same-origin")
    put("GATEWAY_CORS_VARY", entries == "" ? "" : "Origin")
}

# Validates each line; njs/keys.js reads the file again for each request.
function keys(name, file,    line, number, state, words, total, i, good, mark) {
    if (file == "") return
    mark = "\357\273\277"
    # Some versions of awk end when they read a directory.
    if (system("test -d \"$" name "\"") == 0) return wrong(name, "a readable file", file)
    while ((state = (getline line < file)) > 0) {
        number++
        if (index(line, mark) == 1) line = substr(line, length(mark) + 1)
        sub(/\r$/, "", line)
        if (line ~ /^[ \t]*(#|$)/) continue
        total = split(line, words, " ")
        good = length(line) <= 512 && length(words[1]) <= 64 && words[1] ~ /^[A-Za-z0-9_.-]+$/ && length(words[2]) == 64 && words[2] ~ /^[0-9a-f]+$/
        for (i = 3; i <= total; i++) good = good && words[i] ~ /^(images|videos)=[0-9]+$/ && length(words[i]) <= 13
        if (!good) wrong(name, "a file whose lines are a name, a SHA-256 in 64 lower-case hexadecimal digits, and optionally images=N or videos=N with N up to 999999", "line " number " of " file)
    }
    if (state < 0) return wrong(name, "a readable file", file)
    close(file)
}

function put(name, value) {
    print name "=" value
}

function wrong(name, expectation, value) {
    printf "  - %s must be %s, but is \"%s\"\n", name, expectation, value >"/dev/stderr"
    failed = 1
}
