#!/bin/sh
# Renders the templates with the operator's settings, then runs nginx as a child.
set -eu

settings=$(qjs --std /srv/gateway/settings.js)
# IPv6 clients too, unless the kernel has no IPv6.
listen=8080
[ ! -e /proc/net/if_inet6 ] || listen='8080; listen [::]:8080'
export GATEWAY_LISTEN="${GATEWAY_LISTEN:-$listen}"
# The engine's resolver, which is not the same under Docker, Podman and Kubernetes. Only the first,
# because nginx would ask all of them in turn, and others don't know the services.
first=$(awk '$1 == "nameserver" { sub(/%.*/, "", $2); print ($2 ~ /:/ ? "[" $2 "]" : $2); exit }' /etc/resolv.conf)
export GATEWAY_RESOLVER="${GATEWAY_RESOLVER:-${first:-127.0.0.11}}"
names="GATEWAY_ROOT GATEWAY_RUN_DIR GATEWAY_NJS_MODULE GATEWAY_LISTEN GATEWAY_UPSTREAMS GATEWAY_RESOLVER GATEWAY_ACCESS_LOG GATEWAY_METRICS VIDEO_DL_UPSTREAM BG_REMOVAL_UPSTREAM"
while IFS= read -r line; do
    export "${line?}"
    names="$names ${line%%=*}"
done <<END
$settings
END

# Replaces only these names; the others in the templates are nginx variables.
replaced=$(printf '${%s} ' $names)
for template in /srv/gateway/templates/*.template; do
    file=${template##*/}
    envsubst "$replaced" <"$template" >"$GATEWAY_RUN_DIR/${file%.template}"
done

"$@" &
nginx=$!
asked=
trap 'asked=$(date +%s); kill -QUIT "$nginx"' QUIT
for signal in TERM INT HUP; do
    # shellcheck disable=SC2064 # The values of now.
    trap "kill -$signal $nginx" "$signal"
done
# A signal ends `wait`, but not always nginx.
while :; do
    code=0
    wait "$nginx" || code=$?
    kill -0 "$nginx" 2>/dev/null || break
done

# After a graceful stop, the kernel and Docker's proxy may still hold the ends of responses, which are
# lost with the container. A client that has read everything closes its side, so this waits for
# connections on port 8080 (1F90) that haven't got that far: FIN_WAIT1 and 2, LAST_ACK, CLOSING.
unfinished() {
    awk '$2 ~ /:1F90$/ && $4 ~ /^(04|05|09|0B)$/ { found = 1 } END { exit !found }' /proc/net/tcp*
}
grace=$((${GATEWAY_SHUTDOWN_TIMEOUT%ms} / 1000))
while [ -n "$asked" ] && [ "$(date +%s)" -lt $((asked + grace + 10)) ] && unfinished; do
    sleep 0.2
done
exit "$code"
