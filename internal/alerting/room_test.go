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

// tight runs a pager on a volume with limited space, in virtual time.
type tight struct {
	*Pager
	*inbox
	t     *testing.T
	space *atomic.Int64 // free bytes
	delay *atomic.Int64 // duration of a query for the free space
	stop  func()
}

func newTight(t *testing.T, dir string, g *gauge, space int64) *tight {
	t.Helper()
	f := &tight{inbox: &inbox{}, t: t, space: &atomic.Int64{}, delay: &atomic.Int64{}}
	f.space.Store(space)
	f.Pager = mustNew(t, Options{
		Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(slow)}}, Dir: dir,
		Alertmanagers: []Alertmanager{{URL: address}}, Instance: "here",
		freeBytes: f.freeBytes, mkdir: f.mkdir,
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

// freeBytes fails for a missing directory, as the kernel does.
func (f *tight) freeBytes(dir string) (uint64, error) {
	_, err := os.Stat(dir)
	space := uint64(f.space.Load())
	time.Sleep(time.Duration(f.delay.Load()))
	return space, err
}

func (f *tight) mkdir(dir string, mode fs.FileMode) error {
	if _, err := os.Stat(dir); err != nil && f.space.Load() < minSpace {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOSPC}
	}
	return os.MkdirAll(dir, mode)
}

// wantStalled checks whether the pager has stopped.
func (f *tight) wantStalled(want bool) {
	f.t.Helper()
	if got := f.Health().Stalled; (got != nil) != want || want && !waitable(got) {
		f.t.Errorf("it has stopped for %v, want a reason: %v", got, want)
	}
}

// wantFiring checks the messages about an alert, from a message on: all say that it fires, and there
// are at least least of them.
func (f *tight) wantFiring(name string, from, least int) {
	f.t.Helper()
	if got := f.signs(name, from); strings.Contains(got, "-") || len(got) < least {
		f.t.Errorf("messages about %s: %q, want at least %d times +", name, got, least)
	}
}

// TestFullDisk fills the disk of a pager that pages. Meanwhile nothing is stored and firing alerts
// continue. With space again, pending alerts continue to wait, and alerts that ended meanwhile end.
// The pager also starts on a full disk.
func TestFullDisk(t *testing.T) {
	for name, dir := range map[string]string{
		"permanent": t.TempDir(), "temporary": "", "not created yet": filepath.Join(t.TempDir(), "not", "made"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGauge(t)
				set := func(target string, v float64) { g.up.WithLabelValues(target).Set(v) }
				set("fires", 1)
				f := newTight(t, dir, g, minSpace-1)
				time.Sleep(5 * time.Minute)
				f.wantStalled(true)
				if all := f.all(); len(all) > 0 {
					t.Errorf("messages before the first evaluation: %+v", all)
				}
				f.space.Store(1 << 30)
				time.Sleep(2 * time.Minute)
				f.wantStalled(false)
				f.wantFiring("Fires", 0, 2)
				set("waits", 1)
				time.Sleep(6 * time.Minute)

				before := len(f.all())
				f.space.Store(minSpace - 1)
				time.Sleep(time.Minute)
				stored, evaluated := f.store.Head().MaxTime(), f.Health().Evaluations
				time.Sleep(29 * time.Minute)
				f.wantStalled(true)
				if f.store.Head().MaxTime() != stored || f.Health().Evaluations != evaluated {
					t.Error("it stores and evaluates on a full disk")
				}
				f.wantFiring("Fires", before, 29)
				set("fires", 0)
				f.space.Store(resumeSpace - 1) // too little to continue
				time.Sleep(5 * time.Minute)
				f.wantStalled(true)
				f.wantFiring("Fires", before, 33)

				f.space.Store(resumeSpace)
				time.Sleep(3 * time.Minute)
				f.wantStalled(false)
				if got := f.signs("Fires", before); !strings.HasSuffix(got, "-") {
					t.Errorf("messages with the end: %q", got)
				}
				if got := f.signs("Waits", 0); got != "" {
					t.Errorf("an alert that waited for 9 of 10 minutes has messages %q", got)
				}
				time.Sleep(3 * time.Minute)
				if got := f.signs("Waits", 0); !strings.HasPrefix(got, "+") {
					t.Errorf("an alert that waited for its time has messages %q", got)
				}
				f.stop()
			})
		})
	}
}

// TestSlowStart: the pager takes longer to continue than an alert fires without its rule.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGauge(t)
		g.up.WithLabelValues("fires").Set(1)
		f := newTight(t, "", g, 1<<30)
		time.Sleep(time.Minute)
		f.space.Store(minSpace - 1)
		time.Sleep(time.Minute)
		f.wantStalled(true)
		// The pager reads the free space twice: before it continues, and when it opens the database.
		f.delay.Store(int64(10 * time.Minute))
		f.space.Store(resumeSpace)
		time.Sleep(15 * time.Minute)
		f.delay.Store(0)
		time.Sleep(10 * time.Minute)
		f.wantStalled(false)
		f.wantFiring("Fires", 0, 26)
		f.stop()
	})
}

// TestBrokenWithoutSpace: a scrape finds the disk full while maintenance breaks the database. Both
// errors are reported, so the database is dropped.
func TestBrokenWithoutSpace(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		g, began := newGauge(t), time.Now()
		g.set(1)
		p := mustNew(t, Options{
			Gatherer: g.registry, RuleFiles: []RuleFile{{"rules.yml", []byte(slow)}}, Instance: "here",
			Interval: 61 * time.Second, // no scrape in the minute in which the database is compacted
			freeBytes: func(string) (uint64, error) {
				switch since := time.Since(began); {
				case since < 31*time.Minute: // the first chunk is full after half an hour
				case since == 31*time.Minute:
					time.Sleep(2 * time.Minute)
				default:
					return 0, nil
				}
				return 1 << 40, nil
			},
		})
		if err := os.RemoveAll(filepath.Join(p.dir.path, "tsdb", "chunks_head")); err != nil {
			t.Fatal(err)
		}
		err := p.storeAndEvaluate(t.Context())
		if _, broken := errors.AsType[brokenError](err); !broken || !errors.Is(err, errNoSpace) {
			t.Errorf("it ended with %v, want both causes", err)
		}
		p.abandon(err)
		if p.store != nil {
			t.Error("a broken database is kept")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFullDiskUnseen fills a real disk while the pager reads that there is space, so that the
// database panics.
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
		// Each database is opened on the full disk and works in memory until its first chunks are
		// full.
		if f.abandoned < 2 || f.abandoned > 4 {
			t.Errorf("%d databases broke, want one each half hour", f.abandoned)
		}
		f.wantFiring("Fires", 0, 119)
		disk.Free()
		time.Sleep(maxPause + time.Minute)
		if reason := f.Health().Stalled; reason != nil {
			t.Errorf("with space again it has stopped for %v", reason)
		}
		f.wantFiring("Fires", 0, 134)
		f.stop()
	})
}

// TestBrokenStore removes the files of a running database. It panics, as it does on a disk that fills
// up between two checks. A new database replaces it, and firing alerts continue.
func TestBrokenStore(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		g := newGauge(t)
		g.up.WithLabelValues("fires").Set(1)
		f := newTight(t, "", g, 1<<40)
		time.Sleep(time.Minute)
		first := f.store
		if err := os.RemoveAll(filepath.Join(f.dir.path, "tsdb", "chunks_head")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Minute) // the first chunks are full after 20 minutes
		if f.abandoned != 1 || f.store == first {
			t.Errorf("%d databases broke, want 1 and a new one", f.abandoned)
		}
		f.wantStalled(false)
		f.wantFiring("Fires", 0, 40)
		g.up.WithLabelValues("fires").Set(0)
		time.Sleep(time.Minute)
		if got := f.signs("Fires", 0); !strings.HasSuffix(got, "-") {
			t.Errorf("messages with the end: %q", got)
		}
		f.stop()
	})
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestReadOnlyDirectory makes the directory of a pager read-only and writable again. The pager says why it has
// stopped, where and what to do; firing alerts continue. Afterwards it works again, without a restart.
func TestReadOnlyDirectory(t *testing.T) {
	disk := smalldisk.New(t, "64")
	t.Setenv("TMPDIR", disk.Path)
	synctest.Test(t, func(t *testing.T) {
		g := newGauge(t)
		g.up.WithLabelValues("fires").Set(1)
		f := newTight(t, "", g, 1<<40) // a database with a log, which breaks, leaves a goroutine in the bubble
		time.Sleep(time.Minute)
		disk.SetReadOnly(true)
		time.Sleep(2 * time.Hour) // the database works until it needs a new file
		reason := f.Health().Stalled
		if reason == nil || !strings.Contains(reason.Error(), disk.Path) || !strings.Contains(reason.Error(), "read-only file system") || !strings.Contains(reason.Error(), "its directory must be writable") {
			t.Errorf("it has stopped for %v, want the place, the cause and the remedy", reason)
		}
		f.wantFiring("Fires", 0, 119)
		disk.SetReadOnly(false)
		time.Sleep(maxPause + time.Minute)
		f.wantStalled(false)
		g.up.WithLabelValues("fires").Set(0)
		time.Sleep(time.Minute)
		if got := f.signs("Fires", 0); !strings.HasSuffix(got, "-") {
			t.Errorf("messages with the end: %q", got)
		}
		f.stop()
	})
}
