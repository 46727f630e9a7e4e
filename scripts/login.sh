#!/usr/bin/env bash
# Logs Docker in to a registry of images, from which pack, cosign and scripts/publish.sh take the credentials. The
# variables REGISTRY_USER and REGISTRY_PASSWORD have the user's name and the password or token.
#
#   scripts/login.sh REGISTRY
. "$(dirname "$0")/lib.sh"

# Standard input, because other users of the machine can read command lines.
printf '%s' "${REGISTRY_PASSWORD:?has to be set}" |
  docker login "${1:?name the registry}" --username "${REGISTRY_USER:?has to be set}" --password-stdin
