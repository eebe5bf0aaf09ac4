package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/study/runs"
)

const storeFormat = 2

// store is a sweep's output directory:
//
//	plan.yml         the plan, without secrets
//	sweep.json       identifies the sweep and its plan
//	levels/CELL.json a finished level, written once
//	levels/CELL.jsonl.zst
//	                 its turns, written while they end
//	run.json         the whole run, at the end
//
// The JSON files are written atomically, so an existing one is complete even if the process or the machine dies.
type store struct {
	dir     string
	header  header
	lock    *atomicfile.Lock
	records map[string]*record // the finished cells by name
}

type header struct {
	Format int `json:"format"`
	// ID distinguishes sweeps, even of the same plan.
	ID      string    `json:"id"`
	Plan    string    `json:"plan_sha256"`
	Mode    string    `json:"mode"`
	Started time.Time `json:"started"`
	Tool    runs.Tool `json:"tool"`
}

type record struct {
	Sweep string `json:"sweep"`
	Cell  string `json:"cell"`
	// Deployment is the variant's own description, in its first level only.
	Deployment []runs.Parameter `json:"deployment,omitempty"`
	Result     runs.Result      `json:"result"`
}

func (o Options) mode() string {
	switch {
	case o.FindCapacity:
		return "search"
	case o.Shard.Count > 0:
		return fmt.Sprintf("shard %s from %s", o.Shard, o.StartAt.UTC().Format(time.RFC3339))
	}
	return "grid"
}

// openStore locks a new directory, or one to resume. It refuses a directory with other contents and
// leaves it unchanged. The caller has to call begin for a new one.
func openStore(o Options) (*store, error) {
	s := &store{dir: o.Dir, records: map[string]*record{}}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the output directory: %w; choose another --output.dir", err)
	}
	var err error
	if s.lock, err = atomicfile.LockDir(o.Dir); err != nil {
		return nil, fmt.Errorf("--output.dir: %w", err)
	}
	if err := s.open(o); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *store) open(o Options) error {
	data, err := os.ReadFile(s.path("sweep.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.checkEmpty()
	case err != nil:
		return fmt.Errorf("reading the output directory: %w", err)
	}
	if err := atomicfile.ParseJSON(data, &s.header); err != nil {
		return fmt.Errorf("%s was not written by a sweep (%w); choose another --output.dir", s.path("sweep.json"), err)
	}
	switch {
	case s.header.Format != storeFormat:
		return fmt.Errorf("%s was written by another synthetic (format %d, this one reads %d); use that one, or another --output.dir", o.Dir, s.header.Format, storeFormat)
	case s.header.Plan != o.Plan.Source.SHA256:
		return fmt.Errorf("%s holds a sweep of another plan (sha256 %.12s…, this one is %.12s…); choose another --output.dir", o.Dir, s.header.Plan, o.Plan.Source.SHA256)
	case !o.Resume:
		return fmt.Errorf("%s holds a sweep of this plan from %s; use --resume to continue it, or choose another --output.dir", o.Dir, s.header.Started.Format(time.DateTime))
	case s.header.Mode != o.mode():
		return fmt.Errorf("%s holds a %s, this is a %s (--find-capacity, --shard); choose another --output.dir", o.Dir, s.header.Mode, o.mode())
	}
	return s.load()
}

func (s *store) checkEmpty() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("reading the output directory: %w", err)
	}
	for _, e := range entries {
		// A sweep that was killed early leaves these.
		if name := e.Name(); name != atomicfile.LockName && name != "levels" && name != "plan.yml" {
			return fmt.Errorf("%s is not empty (%q) and holds no sweep; choose another --output.dir", s.dir, name)
		}
	}
	return nil
}

// begin writes the first files of a new sweep, and does nothing in a sweep that is resumed.
func (s *store) begin(o Options) error {
	if s.header.ID != "" {
		return nil
	}
	if err := os.MkdirAll(s.path("levels"), 0o755); err != nil {
		return fmt.Errorf("making the output directory: %w; choose another --output.dir", err)
	}
	s.header = header{
		Format: storeFormat, ID: o.ID, Plan: o.Plan.Source.SHA256, Mode: o.mode(),
		Started: time.Now().UTC(), Tool: o.Tool,
	}
	if err := atomicfile.Write(s.path("plan.yml"), []byte(o.Plan.Source.Text), 0o644); err != nil {
		return err
	}
	return writeJSON(s.path("sweep.json"), s.header)
}

func (s *store) load() error {
	if err := atomicfile.RemoveStrays(s.path("levels"), ""); err != nil {
		return err
	}
	paths, err := filepath.Glob(s.path("levels", "*.json"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("reading a finished level: %w", err)
		}
		var r record
		if err := atomicfile.ParseJSON(data, &r); err != nil {
			return fmt.Errorf("%s is broken (%w); remove it to measure its level again", path, err)
		}
		if r.Sweep != s.header.ID || r.Cell+".json" != filepath.Base(path) {
			return fmt.Errorf("%s is of another sweep (%q, cell %q); remove it to measure its level again", path, r.Sweep, r.Cell)
		}
		s.records[r.Cell] = &r
	}
	return nil
}

func (s *store) save(r *record) error {
	r.Sweep = s.header.ID
	if err := writeJSON(s.path("levels", r.Cell+".json"), r); err != nil {
		return fmt.Errorf("keeping %s: %w", r.Cell, err)
	}
	s.records[r.Cell] = r
	return nil
}

func (s *store) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *store) close() { s.lock.Release() }

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encoding %s: %w", path, err)
	}
	return atomicfile.Write(path, append(data, '\n'), 0o644)
}

func newID() string { return fmt.Sprintf("%08x", rand.Uint32()) }
