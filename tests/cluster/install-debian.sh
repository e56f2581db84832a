#!/bin/sh
# The Debian packages a test cluster needs beside its Go tools, or those that are named; run as root. Tests never install
# anything.
set -eu
needed="runc containernetworking-plugins busybox-static iproute2 util-linux postgresql chromium mpich openjdk-17-jre-headless maven"
missing=""
for package in ${*:-$needed}; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq -o DPkg::Lock::Timeout=300 update
# shellcheck disable=SC2086  # one word per package
apt-get -qq -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends $missing >/dev/null
