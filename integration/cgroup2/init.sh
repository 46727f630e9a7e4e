#!/bin/busybox sh
# The first process of the virtual machine. What the tests are to run follows.
/bin/busybox --install -s /bin
export PATH=/bin:/tests HOME=/tmp CI=true
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo '+cpu +memory' >/sys/fs/cgroup/cgroup.subtree_control # as systemd does
for module in inet tcp unix; do insmod "/modules/${module}_diag.ko"; done
ip link set lo up

# Debian's busybox has no nice, and the bridge has been compiled already.
cat >/bin/nice <<'NICE'
#!/bin/sh
renice "$2" $$
shift 2
exec "$@"
NICE
cat >/bin/go <<'GO'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp /tests/grpc_health_bridge "$2"
GO
chmod +x /bin/nice /bin/go

run() { # PROGRAM ARGUMENT... for at most so many seconds of this machine
  timeout 300 "$@" -test.v 2>&1
  echo "$1 ends with $?"
}
