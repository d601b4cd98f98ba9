# Which cuDNN torch would be given: predicted from RPATH and RUNPATH of its libraries, and
# then said by the loader itself.
site=$PWD/site other=$PWD/other
mkdir -p bin "$site"/torch/lib "$site"/nvidia/cudnn/lib "$site"/nvidia_cudnn_cu12-9.10.2.21.dist-info "$other"
printf '\177ELF\0Python\0%s\0' 3.12.4 >bin/python3.12
chmod +x bin/python3.12
printf "__version__ = '2.8.0+cu126'\ncuda: Optional[str] = '12.6'\n" >"$site"/torch/version.py
printf 'Name: nvidia-cudnn-cu12\nVersion: 9.10.2.21\n' >"$site"/nvidia_cudnn_cu12-9.10.2.21.dist-info/METADATA
shared() { echo | gcc -shared -nostdlib -o "$1" -x c - -x none "${@:2}"; }
shared "$site"/nvidia/cudnn/lib/libcudnn.so.9 -Wl,-soname,libcudnn.so.9
shared "$other"/libcudnn.so.9.1.0 -Wl,-soname,libcudnn.so.9
shared "$other"/libcudnn.so.8.9.2 -Wl,-soname,libcudnn.so.8
ln -s libcudnn.so.8.9.2 "$other"/libcudnn.so.8

torch_cuda() { # torch_cuda LINKER-OPTION…: a libtorch_cuda.so that needs cuDNN 9
	shared "$site"/torch/lib/libtorch_cuda.so -Wl,--no-as-needed "$site"/nvidia/cudnn/lib/libcudnn.so.9 "$@"
}
look() { # look TITLE: with LD_LIBRARY_PATH leading to the other copies
	local predicted said
	local preload=${LD_PRELOAD-}
	unset LD_PRELOAD # not for the tools of this script
	export LD_LIBRARY_PATH=$other
	echo "== $1"
	LD_PRELOAD=$preload PYTHONPATH=$site lockstep doctor -v --python bin/python3.12 >report
	grep -E '^(torch_lib.cudnn|cudnn) |shadowed' report | sed 's/   */ | /g'
	predicted=$(sed -n 's/^torch_lib.cudnn  *[^(]*(\(.*\), by .*/\1/p' report)
	said=$(LD_PRELOAD=$preload ldd "$site"/torch/lib/libtorch_cuda.so | sed -n 's/.*libcudnn.so.9 => \(\/[^ ]*\) .*/\1/p
		s/^[[:space:]]*\(\/[^ ]*libcudnn[^ ]*\) (.*/\1/p')
	if [ "$(realpath -m "${said:-/none}")" = "$(realpath -m "${predicted:-/none}")" ]; then
		echo "as the loader says"
	else
		echo "the loader says ${said:-none}"
	fi
	unset LD_LIBRARY_PATH
}
own='-rpath,$ORIGIN/../../nvidia/cudnn/lib'
torch_cuda "-Wl,--enable-new-dtags,$own"
look 'RUNPATH, and cuDNN 8 alone on LD_LIBRARY_PATH: nothing that torch asks for'
ln -s libcudnn.so.9.1.0 "$other"/libcudnn.so.9
look 'RUNPATH: LD_LIBRARY_PATH wins'
torch_cuda "-Wl,--disable-new-dtags,$own"
look 'RPATH: torch has its own'
torch_cuda "-Wl,--enable-new-dtags,$own"
LD_PRELOAD=$other/libcudnn.so.9.1.0 look 'LD_PRELOAD wins over all'
torch_cuda '-Wl,--disable-new-dtags,-rpath,/nowhere'
look 'RPATH that leads nowhere: LD_LIBRARY_PATH'
torch_cuda
look 'neither'
sed -i 's/libcudnn\.so\.9/libcudnn.so.7/g' "$site"/torch/lib/libtorch_cuda.so
look 'a cuDNN that nobody has'
head -c 200 "$site"/torch/lib/libtorch_cuda.so >short && mv short "$site"/torch/lib/libtorch_cuda.so
export LD_LIBRARY_PATH=$other
echo '== not an ELF file any more: what may be is said'
PYTHONPATH=$site lockstep doctor -v --python bin/python3.12 | grep -E '^(torch_lib.cudnn|cudnn) |shadowed' | sed 's/   */ | /g'
unset LD_LIBRARY_PATH
echo '== a library that nobody has is missed before anybody imports torch'
torch_cuda "-Wl,--enable-new-dtags,$own"
sed -i 's/libcudnn\.so\.9/libcudnn.so.6/g' "$site"/torch/lib/libtorch_cuda.so
PYTHONPATH=$site lockstep doctor --python bin/python3.12 | grep -A1 libraries-missing
echo '== torch opens the wheels by itself, before LD_LIBRARY_PATH is asked'
torch_cuda
shared "$site"/torch/lib/libtorch_global_deps.so
echo '        _preload_cuda_deps(required=False)' >"$site"/torch/__init__.py
export LD_LIBRARY_PATH=$other
PYTHONPATH=$site lockstep doctor -v --python bin/python3.12 | grep -E '^torch_lib.cudnn' | sed 's/   */ | /g'
echo > "$site"/torch/__init__.py
PYTHONPATH=$site lockstep doctor -v --python bin/python3.12 | grep -E '^torch_lib.cudnn' | sed 's/   */ | /g'
unset LD_LIBRARY_PATH
echo '== a farm of links: $ORIGIN is the folder of the link, as the loader has it'
torch_cuda "-Wl,--disable-new-dtags,$own"
mkdir -p farm
cp -rs "$site" "$PWD/farm/"
site=$PWD/farm/site look 'links'
rm farm/site/nvidia/cudnn/lib/libcudnn.so.9
site=$PWD/farm/site look 'links, and no cuDNN among them'
