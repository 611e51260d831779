#!/bin/sh
# Builds the simulator: build-model.sh FOLDER. FOLDER/simulator is there only when all went well.
#
# Verilator turns Rocket's Verilog into C++, which is compiled together with simulator/. The Verilog comes from a Python
# package, of which only the files are used; SYNTHESIS leaves out the RTL's own checks of its buses.
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
cd "$folder"
data=package/pythondata_cpu_rocket/verilog
config=$data/generated-src/freechips.rocketchip.system.LitexFullConfig
if [ ! -e "$config.v" ]; then
	rm -rf wheel package package.part
	python3 -m pip download --quiet --no-deps --only-binary :all: --require-hashes -r "$here/requirements.txt" -d wheel
	mkdir package.part
	unzip -q wheel/*.whl "*.LitexFullConfig.v" "*.LitexFullConfig.behav_srams.v" "*/vsrc/*.v" -d package.part
	mv package.part package
	rm -rf wheel
fi
verilator --cc --exe --no-timing -O3 --x-assign fast --x-initial fast --no-assert -DSYNTHESIS \
	--top-module ExampleRocketSystem --prefix Vrocket -Mdir model --output-split 20000 \
	-Wno-fatal -Wno-lint -Wno-style -CFLAGS "-O2 -std=c++20" "$here/simulator/public.vlt" \
	"$config.v" "$config.behav_srams.v" \
	"$data/vsrc/plusarg_reader.v" "$data/vsrc/AsyncResetReg.v" "$data/vsrc/EICG_wrapper.v" \
	"$here/simulator/main.cpp"
nice make -s -j2 -C model -f Vrocket.mk OPT_FAST=-O2
cp model/Vrocket simulator.part
mv simulator.part simulator
rm -rf model package
