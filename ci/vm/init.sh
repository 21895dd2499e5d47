#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-or-later
# The first process in the virtual machine of ci/vm/vm-test.sh, from its initramfs. It mounts the host's file system read-only by 9p, with
# file systems in memory for folders that must be writable, and runs ci/vm/guest.sh in it. /out is a folder of the host: it has the
# settings (env), and gets the results.
export PATH=/bin

end() {
	echo "vm: $*"
	sync
	reboot -f	# QEMU ends then: -no-reboot
}
trap 'end "init.sh ended early"' EXIT
set -eu

/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /out /host
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev


for module in virtio_pci 9pnet_virtio 9p veth sch_ingress cls_bpf; do
	modprobe -q "$module" || true	# or it is built in
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro root /host
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none out /out
: >/out/booted
# shellcheck source=/dev/null
. /out/env

# The tree and the build folder may be in a folder that becomes a tmpfs, so they are mounted again after that.
for path in "$ROOT" "$O"; do
	mkdir -p "/keep$path"
	mount --bind "/host$path" "/keep$path"
done
for path in /tmp /var/tmp /run; do
	mount -t tmpfs -o mode=1777 tmpfs "/host$path"
done
for path in "$ROOT" "$O"; do
	[ -d "/host$path" ] || mkdir -p "/host$path"
	mount --bind "/keep$path" "/host$path"
done
mkdir -p /host/run/out
for path in proc sys dev; do
	mount --move "/$path" "/host/$path"
done
mount --move /out /host/run/out
chroot /host /bin/bash "$ROOT/ci/vm/guest.sh" </host/dev/null >/host/dev/console 2>&1 || echo "vm: guest.sh: exit code $?"
trap - EXIT
end "done"
