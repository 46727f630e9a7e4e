#!/usr/bin/env bash
# A Kubernetes cluster of one node to try manifests on: the tests' own, which stays up until you end it. It has a
# registry with the sample app of the examples, registry.example.com/my-app:1.0.0. Needs root, Docker, Go, and the
# Debian packages iproute2, iptables, containernetworking-plugins and libseccomp-dev. The first use compiles its
# programs, which takes a quarter of an hour. It has no DNS: name Services by their addresses.
#
#   scripts/cluster.sh up                  # brings it up, in the background
#   scripts/cluster.sh kubectl ARGUMENT... # kubectl apply -f FILE; paths are relative to the repository
#   scripts/cluster.sh push IMAGE          # takes an image from Docker; manifests name it by the same name
#   scripts/cluster.sh down                # ends it; nothing is left of it

# shellcheck disable=SC2154 # the file of a cluster that runs sets the variables
. "$(dirname "$0")/lib.sh"

state=$PWD/dist/cluster-up
variables() {
  [ -f "$state/variables" ] || fail "there is no cluster: bring it up with scripts/cluster.sh up"
  # shellcheck source=/dev/null # the program up writes it
  . "$state/variables"
}

case "${1:-} $#" in
'up 1')
  [ ! -f "$state/variables" ] || fail "the cluster is up already"
  needs_go
  [ -d dist/buildpack ] || scripts/build.sh
  rm -rf "$state"
  mkdir -p "$state"
  go -C integration build -o "$state/up" ./cluster/up
  (cd integration && exec setsid "$state/up" "$state/variables" >"$state/log" 2>&1) &
  tail -f --pid=$! "$state/log" &
  until [ -f "$state/variables" ]; do
    kill -0 %1 2>/dev/null || exit 1
    sleep 0.2
  done
  kill %2
  echo "the cluster is up: scripts/cluster.sh kubectl apply -f examples/kubernetes/deployment.yaml"
  ;;
kubectl\ *)
  variables
  shift
  exec nsenter --target "$init" --net env KUBECONFIG="$folder/kubeconfig" HOME="$folder" "$bin/kubectl" "$@"
  ;;
'push 2')
  variables
  repository=$2
  case $2 in # containerd asks for it without the registry's name
  *.*/* | *:*/*) repository=${2#*/} ;;
  */*) ;;
  *) repository=library/$2 ;;
  esac
  docker tag "$2" "$registry/$repository"
  docker push "$registry/$repository"
  docker rmi "$registry/$repository" >/dev/null
  ;;
'down 1')
  variables
  kill "$pid"
  tail -f --pid="$pid" /dev/null # waits for its end
  ;;
*)
  describe >&2
  exit 1
  ;;
esac
