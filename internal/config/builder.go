package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// builder turns a decoded file into a Config. It checks what concerns several
// keys at once, and leaves alone keys that the decoder found wrong.
type builder struct {
	*decoder
	dir string
	// known says that the jobs are all there: nothing that selects targets and
	// workloads was wrong.
	known bool
	// baselines of the jobs so far.
	baselines []Baseline
}

func (b *builder) build(f file) *Config {
	targets, workloads := b.targets(f.Targets), b.workloads(f.Workloads)
	jobs := b.traffic(f.Traffic, targets, workloads)
	return &Config{
		Targets: targets, ServerMetrics: b.serverMetrics(f.Targets, targets), Jobs: jobs,
		SLOs:      b.slos(f.SLOs, targets, workloads, jobs),
		Baselines: b.baselines, Changes: b.changes(f.Changes, targets), Alerting: b.alerting(f.Alerting),
	}
}

// mistake reports a wrong key. A key that is absent stands where the nearest
// mapping around it begins.
func (b *builder) mistake(path, value, message, remedy string) {
	b.report(b.place(path), path, mistake{value, message, remedy})
}

func (b *builder) place(path string) *yaml.Node {
	for b.places[path] == nil {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return b.places[path]
}

// has reports whether the key at path was written.
func (b *builder) has(path string) bool { return b.places[path] != nil }

// fine reports whether none of the keys, nor what is in them, was found wrong,
// so that a check of them makes sense.
func (b *builder) fine(paths ...string) bool {
	for wrong := range b.wrong {
		for _, p := range paths {
			rest, inside := strings.CutPrefix(wrong, p)
			if inside && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				return false
			}
			if strings.HasPrefix(p, wrong+".") || strings.HasPrefix(p, wrong+"[") {
				return false
			}
		}
	}
	return true
}

// labelName is what names must match: they become label values, parts of file
// names and parts of URLs.
var labelName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// notLabel matches what a label cannot hold.
var notLabel = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// labelSafe makes a valid name out of a text, or "".
func labelSafe(s string) string {
	s = notLabel.ReplaceAllString(s, "-")
	if len(s) > 63 {
		s = s[:63]
	}
	return strings.Trim(s, "-_.")
}

// name checks a name and that no other of its kind has it. taken has the paths
// of those before it. kind is "target" and the like. A bad name still names
// its item, so it is not marked as wrong and references to it count.
func (b *builder) name(path, name, kind string, taken map[string]string) {
	at := path + ".name"
	if !b.fine(at) {
		return
	}
	if !labelName.MatchString(name) {
		remedy := "use up to 63 letters, digits, -, _ and ."
		if safe := labelSafe(name); safe != "" && !looksSecret(safe) {
			remedy = "write " + safe
		}
		b.note(b.place(at), at, mistake{shown(name), "is not a valid name", remedy})
		return
	}
	if first, ok := taken[name]; ok {
		b.note(b.place(at), at, mistake{shown(name), "is also the name of " + first, "give each " + kind + " its own name"})
		return
	}
	taken[name] = path
}

// file resolves the path of a file that must be there and readable. It reads
// nothing of it.
func (b *builder) file(at, path string, secret bool) string {
	if path == "" || !b.fine(at) {
		return path
	}
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(b.dir, path)
	}
	if err := readable(full); err != nil {
		value := shown(path)
		if secret && !strings.Contains(path, "/") {
			// Perhaps the key itself was written here.
			value = ""
		}
		b.mistake(at, value, "cannot be read ("+reasonOf(err)+")", "name a readable file, relative to the configuration file")
	}
	return full
}

// readable reports why a file cannot be opened for reading.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// index writes the path of a list's item.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
