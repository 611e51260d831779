#!/bin/sh
# Builds the peer's kernel: build-kernel.sh SOURCE.tar.xz FOLDER. FOLDER/Image is there only when all went well.
set -eu
source=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
cd "$folder"
if [ ! -e source/Makefile ]; then
	rm -rf source.part
	mkdir source.part
	tar -xf "$source" -C source.part --strip-components=1
	mv source.part source
fi
export ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu-
# Nothing of this machine goes into the image: two builds are equal.
export KBUILD_BUILD_TIMESTAMP='2026-01-01' KBUILD_BUILD_USER=pebble KBUILD_BUILD_HOST=pebble
make -C source O="$folder/build" -s allnoconfig KCONFIG_ALLCONFIG="$here/kernel.config"
nice make -C source O="$folder/build" -s -j2 Image
cp build/arch/riscv/boot/Image Image.part
mv Image.part Image
