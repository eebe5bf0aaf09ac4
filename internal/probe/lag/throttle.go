package lag

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Throttled returns how long CPU limits have prevented this process from running so far: the
// limits of its cgroup and of those above it that are visible. The kernel counts the time of each
// CPU, so this is the mean of the CPUs that Go uses. It returns false if the system does not say.
func Throttled() (time.Duration, bool) {
	total, ok := throttled(os.DirFS("/"))
	return total / time.Duration(runtime.GOMAXPROCS(0)), ok
}

// throttled reads both versions of cgroups. A container may see its path on the host, which does
// not exist in it; its cgroup is then at the root.
func throttled(system fs.FS) (total time.Duration, known bool) {
	groups, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(groups)) { // "4:cpu,cpuacct:/a/b", or "0::/a/b" in version 2
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 || parts[1] != "" && !slices.Contains(strings.Split(parts[1], ","), "cpu") {
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			stat, _ := fs.ReadFile(system, path.Join("sys/fs/cgroup", parts[1], dir, "cpu.stat"))
			if d, ok := parseCPUStat(string(stat)); ok {
				total, known = total+d, true
			}
			if dir == "/" {
				break
			}
		}
	}
	return total, known
}

func parseCPUStat(stat string) (time.Duration, bool) {
	units := map[string]time.Duration{"throttled_usec": time.Microsecond, "throttled_time": time.Nanosecond}
	for line := range strings.Lines(stat) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && units[name] > 0 {
			return time.Duration(n) * units[name], true
		}
	}
	return 0, false
}
