package lag

import (
	"testing"
	"testing/fstest"
	"time"
)

func TestThrottled(t *testing.T) {
	const v2, v1 = "usage_usec 7\nnr_periods 9\nnr_throttled 3\nthrottled_usec 1500\n", "nr_periods 9\nnr_throttled 3\nthrottled_time 1500000\n"
	for name, tt := range map[string]struct {
		groups string
		files  map[string]string
		want   time.Duration
		known  bool
	}{
		"version 2":                  {"0::/\n", map[string]string{"cpu.stat": v2}, 1500 * time.Microsecond, true},
		"its slice has a limit, too": {"0::/a/b\n", map[string]string{"a/b/cpu.stat": v2, "a/cpu.stat": v2}, 3 * time.Millisecond, true},
		"version 1":                  {"5:memory:/x\n4:cpu,cpuacct:/x\n0::/x\n", map[string]string{"cpu,cpuacct/x/cpu.stat": v1, "memory/x/cpu.stat": v1}, 1500 * time.Microsecond, true},
		"a path of the host":         {"1:cpu:/docker/0123\n", map[string]string{"cpu/cpu.stat": v1}, 1500 * time.Microsecond, true},
		"a path above the namespace": {"0::/../b\n", map[string]string{"b/cpu.stat": v2}, 1500 * time.Microsecond, true},
		"no limit":                   {"0::/\n", map[string]string{"cpu.stat": "usage_usec 7\nthrottled_usec 0\n"}, 0, true},
		"no controller":              {"0::/\n", map[string]string{"cpu.stat": "usage_usec 7\n"}, 0, false},
		"nonsense":                   {"0:/\nx\n0::/\n", map[string]string{"cpu.stat": "throttled_usec much\n"}, 0, false},
		"no cgroups":                 {"", nil, 0, false},
	} {
		system := fstest.MapFS{}
		if tt.groups != "" {
			system["proc/self/cgroup"] = &fstest.MapFile{Data: []byte(tt.groups)}
		}
		for path, text := range tt.files {
			system["sys/fs/cgroup/"+path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got, known := throttled(system); got != tt.want || known != tt.known {
			t.Errorf("%s: %v, %t; want %v, %t", name, got, known, tt.want, tt.known)
		}
	}
}
