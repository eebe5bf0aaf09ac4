package alerting

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/tools/testkit/smalldisk"
)

// tight runs a pager on a volume with so much room, in virtual time.
type tight struct {
	*Pager
	*inbox
	t    *testing.T
	room *atomic.Int64
	// slow is how long an answer takes to how much room there is.
	slow *atomic.Int64
	stop func()
}

func newTight(t *testing.T, dir string, g *gauge, room int64) *tight {
	t.Helper()
	f := &tight{inbox: &inbox{}, t: t, room: &atomic.Int64{}, slow: &atomic.Int64{}}
	f.room.Store(room)
	f.Pager = mustNew(t, Options{
		Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(slow)}}, Dir: dir,
		Alertmanagers: []Alertmanager{{URL: address}}, Instance: "here",
		free: f.free, mkdir: f.mkdir,
	})
	f.sendLoops[0].client.http = &http.Client{Transport: f.inbox}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	f.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the pager ended with %v", err)
		}
	}
	return f
}

// free knows, as the kernel, only directories that are there.
func (f *tight) free(dir string) (uint64, error) {
	_, err := os.Stat(dir)
	room := uint64(f.room.Load())
	time.Sleep(time.Duration(f.slow.Load()))
	return room, err
}

func (f *tight) mkdir(dir string, mode fs.FileMode) error {
	if _, err := os.Stat(dir); err != nil && f.room.Load() < floor {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOSPC}
	}
	return os.MkdirAll(dir, mode)
}

// stands checks whether the pager stands still.
func (f *tight) stands(want bool) {
	f.t.Helper()
	if got := f.Health().Standing; (got != nil) != want || want && !full(got) {
		f.t.Errorf("it stands still for %v, want one: %v", got, want)
	}
}

// told checks what the Alertmanager was told of an alert from a message on:
// only that it fires, and at least so often.
func (f *tight) told(name string, from, least int) {
	f.t.Helper()
	if got := f.signs(name, from); strings.Contains(got, "-") || len(got) < least {
		f.t.Errorf("%s was told %q, want %d and more times +", name, got, least)
	}
}

// TestFullDisk fills the disk of a pager that pages: nothing is stored, what
// fires goes on firing, what waits waits on, and what ended meanwhile ends when
// there is room. It begins on a full disk, too.
func TestFullDisk(t *testing.T) {
	for name, dir := range map[string]string{
		"kept": t.TempDir(), "temporary": "", "not made yet": filepath.Join(t.TempDir(), "not", "made"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGauge(t)
				set := func(target string, v float64) { g.up.WithLabelValues(target).Set(v) }
				set("fires", 1)
				f := newTight(t, dir, g, floor-1)
				time.Sleep(5 * time.Minute)
				f.stands(true)
				if all := f.all(); len(all) > 0 {
					t.Errorf("told %+v without having looked", all)
				}
				f.room.Store(1 << 30)
				time.Sleep(2 * time.Minute)
				f.stands(false)
				f.told("Fires", 0, 2)
				set("waits", 1)
				time.Sleep(6 * time.Minute)

				full := len(f.all())
				f.room.Store(floor - 1)
				time.Sleep(time.Minute)
				stored, evaluated := f.store.Head().MaxTime(), f.Health().Evaluations
				time.Sleep(29 * time.Minute)
				f.stands(true)
				if f.store.Head().MaxTime() != stored || f.Health().Evaluations != evaluated {
					t.Error("it stores and evaluates on a full disk")
				}
				f.told("Fires", full, 29)
				set("fires", 0)
				f.room.Store(enough - 1) // not enough to begin again
				time.Sleep(5 * time.Minute)
				f.stands(true)
				f.told("Fires", full, 33)

				f.room.Store(enough)
				time.Sleep(3 * time.Minute)
				f.stands(false)
				if got := f.signs("Fires", full); !strings.HasSuffix(got, "-") {
					t.Errorf("the end was told %q", got)
				}
				if got := f.signs("Waits", 0); got != "" {
					t.Errorf("what waited for 9 of 10 minutes was told %q", got)
				}
				time.Sleep(3 * time.Minute)
				if got := f.signs("Waits", 0); !strings.HasPrefix(got, "+") {
					t.Errorf("what waited for its time was told %q", got)
				}
				f.stop()
			})
		})
	}
}

// TestSlowStart takes longer to begin again than an alert goes on by itself.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGauge(t)
		g.up.WithLabelValues("fires").Set(1)
		f := newTight(t, "", g, 1<<30)
		time.Sleep(time.Minute)
		f.room.Store(floor - 1)
		time.Sleep(time.Minute)
		f.stands(true)
		// It asks twice: whether to begin, and when it opens the database.
		f.slow.Store(int64(10 * time.Minute))
		f.room.Store(enough)
		time.Sleep(15 * time.Minute)
		f.slow.Store(0)
		time.Sleep(10 * time.Minute)
		f.stands(false)
		f.told("Fires", 0, 26)
		f.stop()
	})
}

// TestBrokenWithoutRoom: the disk is full at one look and breaks the database
// after another one. Both are known, so that the database is let go.
func TestBrokenWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		g, begun := newGauge(t), time.Now()
		g.set(1)
		p := mustNew(t, Options{
			Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(slow)}}, Instance: "here",
			Interval: 61 * time.Second, // never a scrape in the minute in which the database is tidied
			free: func(string) (uint64, error) {
				switch since := time.Since(begun); {
				case since < 31*time.Minute: // the first chunk is full after half an hour
				case since == 31*time.Minute:
					time.Sleep(2 * time.Minute)
				default:
					return 0, nil
				}
				return 1 << 40, nil
			},
		})
		if err := os.RemoveAll(filepath.Join(p.home.dir, "tsdb", "chunks_head")); err != nil {
			t.Fatal(err)
		}
		why := p.spell(t.Context())
		if _, broken := errors.AsType[brokenError](why); !broken || !errors.Is(why, errNoRoom) {
			t.Errorf("it ended with %v, want both causes", why)
		}
		p.abandon(why)
		if p.store != nil {
			t.Error("a broken database is kept")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFullDiskUnseen fills a real disk of which the pager believes that it has
// room: the database panics where nobody can look beforehand.
func TestFullDiskUnseen(t *testing.T) {
	disk := smalldisk.New(t, "8")
	t.Setenv("TMPDIR", disk.Path)
	synctest.Test(t, func(t *testing.T) {
		g := newGauge(t)
		g.up.WithLabelValues("fires").Set(1)
		f := newTight(t, "", g, 1<<40)
		time.Sleep(time.Minute)
		disk.Fill()
		time.Sleep(2 * time.Hour)
		// Each is opened on the full disk and lives in memory until the first
		// chunks are full.
		if f.abandoned < 2 || f.abandoned > 4 {
			t.Errorf("%d databases broke, want one each half hour", f.abandoned)
		}
		f.told("Fires", 0, 119)
		disk.Free()
		time.Sleep(mostPatience + time.Minute)
		if why := f.Health().Standing; why != nil {
			t.Errorf("with room again it stands still for %v", why)
		}
		f.told("Fires", 0, 134)
		f.stop()
	})
}

// TestBrokenStore takes the files away from a database that runs. It panics, as
// on a disk that is full before anybody looked; another takes its place, and
// what fires goes on.
func TestBrokenStore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		g := newGauge(t)
		g.up.WithLabelValues("fires").Set(1)
		f := newTight(t, "", g, 1<<40)
		time.Sleep(time.Minute)
		first := f.store
		if err := os.RemoveAll(filepath.Join(f.home.dir, "tsdb", "chunks_head")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Minute) // half of that fills the first chunks
		if f.abandoned != 1 || f.store == first {
			t.Errorf("%d databases broke, want 1 and a new one", f.abandoned)
		}
		f.stands(false)
		f.told("Fires", 0, 40)
		g.up.WithLabelValues("fires").Set(0)
		time.Sleep(time.Minute)
		if got := f.signs("Fires", 0); !strings.HasSuffix(got, "-") {
			t.Errorf("the end was told %q", got)
		}
		f.stop()
	})
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}
