package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestForgetStart: less of the program is resident afterwards, and it still runs.
func TestForgetStart(t *testing.T) {
	resident := func() int {
		status, err := os.ReadFile("/proc/self/status")
		found := regexp.MustCompile(`RssFile:\s+(\d+) kB`).FindSubmatch(status)
		if err != nil || found == nil {
			t.Fatalf("no resident memory of files: %v\n%s", err, status)
		}
		kb, _ := strconv.Atoi(string(found[1]))
		return kb
	}
	before := resident()
	forgetStart()
	if after := resident(); after > before-4<<10 {
		t.Errorf("%d kB of files are resident, before %d", after, before)
	}
}
