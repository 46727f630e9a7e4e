# Makes what the virtual machine boots from: vmlinuz and initramfs, in this folder. The tests' programs are in root.
# Nothing is installed on this machine.
set -eu
get() {
  # shellcheck disable=SC2046 # one package, the kernel of this release
  apt-get -qq download busybox-static $(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: //p')
}
get || { apt-get -qq update && get; } # a list of packages that is old names files that are gone
for package in *.deb; do dpkg-deb -x "$package" packages; done
cp packages/boot/vmlinuz-* vmlinuz
mkdir -p root/bin root/modules root/proc root/sys root/tmp
find packages -path '*/bin/busybox' -exec cp {} root/bin/ \;
find packages \( -name inet_diag.ko -o -name tcp_diag.ko -o -name unix_diag.ko \) -exec cp {} root/modules/ \;
cd root
find . | bin/busybox cpio -o -H newc >../initramfs
