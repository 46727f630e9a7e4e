#!/usr/bin/env bash
# Prints what the head of a script says of it: scripts/help.sh SCRIPT. It is the -h of those that have no other.
set -euo pipefail
cd "$(dirname "$0")"

sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$(basename "$1")"
