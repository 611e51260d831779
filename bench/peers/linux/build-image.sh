#!/bin/sh
# Builds the first memory disk with the benchmark as its first process: build-image.sh FOLDER, where the kernel was built.
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
compiler=riscv64-linux-gnu-gcc
$compiler -O2 -Wall -Wextra -Wno-unused-parameter -static -o "$folder/init" "$here/bench.c"
$compiler -O2 -Wall -static -nostdlib -ffreestanding -Wl,--build-id=none -o "$folder/hello" "$here/hello.c"
cat > "$folder/disk.list" <<END
dir /dev 755 0 0
dir /proc 755 0 0
nod /dev/console 600 0 0 c 5 1
nod /dev/null 666 0 0 c 1 3
file /init $folder/init 755 0 0
file /hello $folder/hello 755 0 0
END
"$folder/build/usr/gen_init_cpio" -t 0 "$folder/disk.list" > "$folder/disk.part"
mv "$folder/disk.part" "$folder/disk.cpio"
