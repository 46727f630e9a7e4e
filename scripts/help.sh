#!/usr/bin/env bash
# Prints the comment at the head of a script: scripts/help.sh SCRIPT. Scripts without options of their own use it for
# -h.
set -euo pipefail
cd "$(dirname "$0")"

sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$(basename "$1")"
