package main

import (
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"synthetic/internal/draw"
)

func TestOwnReadOnly(t *testing.T) {
	const exe = "/usr/bin/synthetic"
	for line, want := range map[string]bool{
		"00400000-00a00000 r-xp 00000000 08:01 42                    /usr/bin/synthetic":           true,
		"00a00000-00b00000 r--p 00600000 08:01 42                    /usr/bin/synthetic":           true,
		"00b00000-00c00000 rw-p 00700000 08:01 42                    /usr/bin/synthetic":           false,
		"00b00000-00c00000 r--s 00700000 08:01 42                    /usr/bin/synthetic":           false,
		"00b00000-00c00000 r--p 00700000 08:01 42                    /usr/lib/libc.so.6":           false,
		"c000000000-c000400000 rw-p 00000000 00:00 0":                                              false,
		"7fff0000-7fff1000 r-xp 00000000 00:00 0                     [vdso]":                       false,
		"00c00000-00b00000 r--p 00700000 08:01 42                    /usr/bin/synthetic":           false,
		"nonsense r--p 00700000 08:01 42                             /usr/bin/synthetic":           false,
		"00a00000-00b00000 r--p 00600000 08:01 42                    /usr/bin/synthetic (deleted)": true,
		"": false,
	} {
		if from, to, ok := ownReadOnly(line, exe); ok != want || (ok && to <= from) {
			t.Errorf("%q: %v (%x-%x), want %v", line, ok, from, to, want)
		}
	}
}

// TestTrimResident checks that the program runs on after its text was given
// back, and that there was something to give back.
func TestTrimResident(t *testing.T) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for line := range strings.Lines(string(maps)) {
		_, _, ok := ownReadOnly(strings.TrimSpace(line), exe)
		found = found || ok
	}
	if !found {
		t.Error("no read-only mapping of the program was found")
	}
	sum := func() (h uint64) {
		for _, font := range draw.Fonts() {
			h = h*31 + uint64(crc32.ChecksumIEEE(font))
		}
		return h
	}
	before := sum()
	for range 3 {
		trimResident()
	}
	if after := sum(); after != before {
		t.Error("the fonts are others after the trim")
	}
	if out := newBuffer(); run(t.Context(), []string{"--version"}, out, out) != 0 || !strings.Contains(out.String(), "synthetic") {
		t.Errorf("after the trim: %q", out)
	}
}

// TestUnmapBytes: whatever the place and the length, the bytes stay the same,
// and what is shorter than a page is left alone.
func TestUnmapBytes(t *testing.T) {
	font := draw.Fonts()[0]
	for _, part := range [][]byte{nil, font[:1], font[1:4096], font[:4096], font[4095:12289], font[len(font)-8191:], font} {
		before := crc32.ChecksumIEEE(part)
		unmapBytes(part)
		if after := crc32.ChecksumIEEE(part); after != before {
			t.Errorf("%d bytes are others after they were unmapped", len(part))
		}
	}
}
