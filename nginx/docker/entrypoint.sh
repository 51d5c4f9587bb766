#!/bin/sh
# Renders the templates with the operator's settings, then runs nginx.
set -eu

settings=$(awk -f /srv/gateway/settings.awk /srv/gateway/settings.tsv) || {
    code=$?
    echo 'Correct the settings named above; docs/configuration.md describes each of them.' >&2
    exit "$code"
}
# IPv6 clients too, unless the kernel has no IPv6.
listen=8080
[ ! -e /proc/net/if_inet6 ] || listen='8080; listen [::]:8080'
export GATEWAY_LISTEN="${GATEWAY_LISTEN:-$listen}"
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

exec "$@"
