# SPDX-License-Identifier: Apache-2.0
#
# CUDA C++ to C++, for kernels on the CPU: what C++ has no grammar for, and nothing else. Lines keep their numbers.
#
#   kernel<<<grid, block, shared, stream>>>(arguments)   a call of what shmemx_cpu_kernel gives (include/shmem/device/cpu_words.h)
#   extern __shared__ type name[];                       type *const name = ...
#
# A launch in a comment is translated without harm; one in a text is left alone.
# Used by: oshcc --device-on-cpu.  Tests: tests/device/wrapper_*.

{ text = text $0 "\n" }

# Does `code` end inside a text? It does where the last line has an odd number of quotes that count.
function in_text(code) {
    sub(/.*\n/, "", code)
    gsub(/\\./, "", code)
    gsub(/'"'/, "", code)
    return gsub(/"/, "", code) % 2 == 1
}

# The length of `code` without the kernel's name at its end: words, ::, and template arguments in angle brackets.
function before_name(code,    at, depth, c) {
    at = length(code)
    while (at > 0 && substr(code, at, 1) ~ /[ \t\n]/) at--
    if (substr(code, at, 1) == ">") {
        depth = 0
        while (at > 0) {
            c = substr(code, at, 1)
            if (c == ">") depth++
            if (c == "<") depth--
            at--
            if (depth == 0) break
        }
        while (at > 0 && substr(code, at, 1) ~ /[ \t\n]/) at--
    }
    while (at > 0 && substr(code, at, 1) ~ /[A-Za-z0-9_:.]/) at--
    return at
}

function name_as_text(name) {
    gsub(/[ \t\n]+/, " ", name)
    gsub(/["\\]/, "", name)
    sub(/ $/, "", name)
    return "\"" name "\""
}

function translate_launches(code,    done, open, close_at, head, at, name, launch) {
    done = ""
    while ((open = index(code, "<<<")) > 0) {
        head = substr(code, 1, open - 1)
        launch = substr(code, open + 3)
        close_at = index(launch, ">>>")
        at = before_name(head)
        name = substr(head, at + 1)
        if (close_at == 0 || in_text(done head) || name !~ /[A-Za-z0-9_]/) {
            done = done head "<<<"
            code = launch
            continue
        }
        done = done substr(head, 1, at) "shmemx_cpu_kernel(" name_as_text(name) ", [=](auto... shmemx_arguments) { " name \
            "(shmemx_arguments...); }, " substr(launch, 1, close_at - 1) ")"
        code = substr(launch, close_at + 3)
    }
    return done code
}

function translate_shared(code,    done, part, type, name) {
    done = ""
    while (match(code, /extern[ \t]+__shared__[^;=(]*(__align__[ \t]*\([^)]*\))?[^;=(]*\[[ \t]*\][ \t]*;/)) {
        part = substr(code, RSTART, RLENGTH)
        done = done substr(code, 1, RSTART - 1)
        code = substr(code, RSTART + RLENGTH)
        sub(/extern[ \t]+__shared__[ \t]*/, "", part)
        sub(/__align__[ \t]*\([^)]*\)/, "", part)
        sub(/[ \t]*\[[ \t]*\][ \t]*;/, "", part)
        match(part, /[A-Za-z_][A-Za-z0-9_]*$/)
        name = substr(part, RSTART)
        type = substr(part, 1, RSTART - 1)
        sub(/^[ \t\n]+/, "", type)
        sub(/[ \t\n]+$/, "", type)
        done = done "SHMEMX_DYNAMIC_SHARED(" type ", " name ");"
    }
    return done code
}

END { printf "#line 1 \"%s\"\n%s", FILENAME, translate_shared(translate_launches(text)) }
