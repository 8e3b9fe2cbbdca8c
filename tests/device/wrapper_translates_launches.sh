#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# oshcc --device-on-cpu compiles CUDA as it is usually written: launches in all forms, dynamic shared memory; other code is left alone, and a
# message of the compiler names the line in the file of the user. Nothing is left in the folder for temporary files.
set -u
. "$(dirname "$0")/../lib.sh"
mkdir tmp folder
export TMPDIR=$work/tmp

cat >folder/values.h <<'END'
enum { VALUE = 7 };
END
cat >folder/program.cu <<'END'
#include "values.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <vector>

namespace deep {
template <int N, class T> __global__ void put(T *to, T value)
{
    extern __shared__ unsigned char bytes[];
    bytes[threadIdx.x] = 1;
    if (threadIdx.x == 0) *to = value + N;
}
}
template <class T> __global__ void deduced(T *to, T value) { *to = value; }
struct pair { int a, b; };
__global__ void take(pair p, int *to) {
    extern __shared__ __align__(16) double numbers[];
    numbers[0] = p.a;
    *to = (int)numbers[0] + p.b;
}
int main()
{
    int a = 0, b = 0, c = 0, d = 0, i = 0; // a comment: put<<<1, 1>>>(nothing)
    std::vector<std::vector<std::vector<int>>> nested(1);
    deep::put<3, int><<<1, dim3(32), 64>>>(&a, VALUE);
    deduced
        <<<
            dim3(2, 1, 1),
            1 << 3
        >>>(&b, 5);
    take<<<1, 1, sizeof(double), 0>>>(pair{1, 2}, &c);
    void (*chosen)(int *, int) = i == 0 ? deduced<int> : nullptr;
    chosen <<<1, 1>>> (&d, i++);
    cudaDeviceSynchronize();
    printf("%d %d %d %d %zu %s\n", a, b, c, d, nested.size(), "a <<< b >>> c");
    return i << 3 >> 3 == 1 ? 0 : 1;
}
END
run() {
    command_run="$*"
    "$@" >out 2>err
    rc=$?
}
# shellcheck disable=SC2086 # words
run "$POSTERN_BIN/oshcc" --device-on-cpu $DEVICE_FLAGS -Wall -Werror -o program folder/program.cu
status 0
run ./program
status 0
[ "$(cat out)" = "10 5 3 0 1 a <<< b >>> c" ] || fail "wrong values"

# In two steps, as make does, and by the wrapper of C++.
run "$POSTERN_BIN/oshc++" --device-on-cpu -c folder/program.cu
status 0
[ -f program.o ] || fail "no program.o"

printf 'int fine;\n\nint wrong = nothing;\n' >folder/wrong.cu
run "$POSTERN_BIN/oshcc" --device-on-cpu -c folder/wrong.cu
[ "$rc" != 0 ] || fail "wrong.cu has compiled"
grep -q '^folder/wrong.cu:3:' err || fail "the message does not name the line"

run "$POSTERN_BIN/oshcc" --device-on-cpu -c folder/absent.cu
status 1
grep -q 'cannot read folder/absent.cu' err || fail "no message about absent.cu"
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"
