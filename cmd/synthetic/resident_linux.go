package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"synthetic/internal/draw"
)

// trimResident gives back the pages of the program's own file that start-up
// touched and that a running sidecar does not need. They hold nothing but what
// the file holds: one that is needed again is read again, at the cost of a page
// fault. It takes a third off the resident memory of an idle sidecar, which
// matters where one runs in every pod. It is a courtesy: where it fails, nothing
// is lost but the saving.
func trimResident() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for range 2 { // what ran during the first has brought its neighbours back
		unmapOwn(exe)
		for _, font := range draw.Fonts() {
			unmapBytes(font)
		}
		dropCached()
	}
}

// unmapOwn unmaps what is mapped of exe and cannot be written to, and asks the
// kernel to read single pages of it from then on.
func unmapOwn(exe string) {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if from, to, ok := ownReadOnly(lines.Text(), exe); ok {
			for _, advice := range []uintptr{unix.MADV_RANDOM, unix.MADV_DONTNEED} {
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, advice)
			}
		}
	}
}

// unmapBytes unmaps the whole pages of bytes that are part of the program's
// file, and that nobody writes to although the linker puts them where one could:
// a write would be lost.
func unmapBytes(b []byte) {
	page := os.Getpagesize()
	from := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if to := from + max(0, len(b)-from)/page*page; to > from {
		for _, advice := range []int{unix.MADV_RANDOM, unix.MADV_DONTNEED} {
			_ = unix.Madvise(b[from:to], advice)
		}
	}
}

// dropCached takes the file out of the kernel's cache, but for what a process
// has mapped: to a page that is needed, the kernel maps all cached neighbours
// within 64 kB, too.
func dropCached() {
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		return
	}
	defer exe.Close()
	_ = unix.Fadvise(int(exe.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// ownReadOnly reads a line of /proc/self/maps and reports whether it is a
// private mapping of exe that cannot be written to: only such a mapping holds
// nothing but what the file holds.
func ownReadOnly(line, exe string) (from, to uintptr, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[5] != exe || len(fields[1]) != 4 || fields[1][1] != '-' || fields[1][3] != 'p' {
		return 0, 0, false
	}
	if n, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil || n != 2 || to <= from {
		return 0, 0, false
	}
	return from, to, true
}
