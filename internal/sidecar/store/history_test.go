package store

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"synthetic/internal/probe"
)

// kept returns the histories of two jobs, one as large as four weeks.
func kept() map[probe.Key][]byte {
	large := make([]byte, 700_000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range large {
		large[i] = byte(r.IntN(12)) // like small differences
	}
	return map[probe.Key][]byte{{Target: "chat", Workload: "a"}: large, {Target: "größer", Workload: "b"}: {0, 1, 2}}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.history")
	if none, err := Read(path); err != nil || len(none) > 0 {
		t.Errorf("no file gives %d jobs, error %v", len(none), err)
	}
	want := kept()
	jobs := maps.Clone(want)
	jobs[probe.Key{Target: "empty"}] = nil
	jobs[probe.Key{Target: "too large"}] = make([]byte, mostJob+1)
	if err := Write(path, maps.All(jobs)); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %d jobs, want %d; error %v", len(got), len(want), err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 450_000 || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %d bytes, mode %v; error %v", info.Size(), info.Mode(), err)
	}
}

// TestDamaged checks that each missing or changed byte is detected.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.history")
	if err := Write(path, maps.All(map[probe.Key][]byte{{Target: "chat", Workload: "a"}: []byte("0123456789")})); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{"empty": nil, "text": []byte(`{"version": 1}`)}
	for i := range whole[:len(whole)-1] {
		damaged["cut"+string(rune('0'+i))] = whole[:i+1]
		flipped := bytes.Clone(whole)
		flipped[i] ^= 0x40
		damaged["flipped"+string(rune('0'+i))] = flipped
	}
	for name, content := range damaged {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if jobs, err := Read(path); err == nil && !reflect.DeepEqual(jobs, map[probe.Key][]byte{{Target: "chat", Workload: "a"}: []byte("0123456789")}) {
			t.Errorf("%s: read as %v", name, jobs)
		} else if _, ok := errors.AsType[*DamagedError](err); err != nil && !ok {
			t.Errorf("%s: %v is no *DamagedError", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.history")
	if err := Write(path, maps.All(map[probe.Key][]byte{{Target: "chat", Workload: "a"}: []byte("0123456789")})); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:10])
	f.Fuzz(func(t *testing.T, data []byte) {
		jobs, err := read(bytes.NewReader(data))
		if err != nil && jobs != nil {
			t.Errorf("%d jobs came with the error %v", len(jobs), err)
		}
	})
}
