#!/bin/sh
# Deletes what no service uses at run time from an image: package managers, documentation
# (licences stay), translations and caches. Runs in the stage that the final stage copies, so
# deleted files take no space.
set -eu
rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg /usr/local/include /usr/local/share/doc /usr/local/share/man /opt/yarn-*
find /usr/share/doc -type f ! -name copyright -delete
rm -rf /usr/share/man /usr/share/info /usr/share/locale /usr/share/lintian /usr/share/bash-completion
rm -rf /var/lib/apt/lists /var/cache/apt /var/cache/debconf /var/log/apt /var/log/dpkg.log
find / -xdev -type d -name gconv -exec find {} -name '*.so' ! -name 'UTF-*' ! -name 'ISO8859-1*' -delete \;
