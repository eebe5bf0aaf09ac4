package alerting

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var killsFlag = flag.Int("kills", 40, "how often TestKilledPagerRepeatsNothing kills the pager")

// Variables of the environment of a child process.
const (
	childDir = "TEST_PAGER_DIRECTORY"
	childURL = "TEST_PAGER_ALERTMANAGER"
)

// child runs a pager whose alert fires while a file exists.
func child(dir string) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "test_up", Help: "Up."}, func() float64 {
		if _, err := os.Stat(filepath.Join(dir, "fault")); err != nil {
			return 0
		}
		return 1
	}))
	p, err := New(Options{
		Gatherer: registry, Rules: []byte(quick), Interval: time.Second,
		Dir: filepath.Join(dir, "pager"), Alertmanagers: []Alertmanager{{URL: os.Getenv(childURL)}}, Instance: "child",
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		panic(err)
	}
	panic(p.Run(context.Background()))
}

// clinic kills and restarts a child process.
type clinic struct {
	t     *testing.T
	am    *receiver
	url   string
	dir   string
	cmd   *exec.Cmd
	log   bytes.Buffer
	kills int
}

func (c *clinic) begin() {
	c.log.Reset()
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append(os.Environ(), childDir+"="+c.dir, childURL+"="+c.url)
	c.cmd.Stderr = &c.log
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clinic) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // the error says that it was killed
	c.kills++
	if bytes.Contains(c.log.Bytes(), []byte("panic:")) {
		c.t.Fatalf("the child ended by itself:\n%s", c.log.String())
	}
}

// messages returns what an Alertmanager tells people: each change of the alert's state.
func (c *clinic) messages() (out []string) {
	firing := false
	for _, p := range c.am.all() {
		if p.firing() == firing {
			continue
		}
		if firing = p.firing(); firing {
			out = append(out, "firing")
		} else {
			out = append(out, "resolved")
		}
	}
	return out
}

// TestKilledPagerRepeatsNothing kills a pager at random moments while a fault comes and goes: each fault is
// one message at its start and one at its end.
func TestKilledPagerRepeatsNothing(t *testing.T) {
	kills := *killsFlag
	if testing.Short() {
		kills = 6
	}
	am := newReceiver()
	c, random := &clinic{t: t, am: am, url: serve(t, am), dir: t.TempDir()}, rand.New(rand.NewPCG(1, uint64(kills)))
	fault := filepath.Join(c.dir, "fault")
	var want []string
	for c.kills < kills {
		if len(want)%2 == 0 {
			want = append(want, "firing")
			if err := os.WriteFile(fault, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			want = append(want, "resolved")
			if err := os.Remove(fault); err != nil {
				t.Fatal(err)
			}
		}
		for range 1 + random.IntN(5) {
			c.begin()
			time.Sleep(time.Duration(random.Int64N(int64(1500 * time.Millisecond)))) // at any moment
			c.kill()
		}
		c.begin()
		for timeout := time.After(time.Minute); len(c.messages()) < len(want); {
			select {
			case <-am.wake:
			case <-timeout:
				t.Fatalf("after %d kills, message %q is lost; messages: %q; log:\n%s", c.kills, want[len(want)-1], c.messages(), c.log.String())
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(100 * time.Millisecond)))) // at any moment
		c.kill()
		if got := c.messages(); len(got) != len(want) || got[len(got)-1] != want[len(want)-1] {
			t.Fatalf("after %d kills: messages %q, not %q", c.kills, got, want)
		}
	}
}
