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

	amconfig "github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/nflog"
	"github.com/prometheus/alertmanager/nflog/nflogpb"
	"github.com/prometheus/client_golang/prometheus"

	"synthetic/internal/alerting/receivers"
)

var killsFlag = flag.Int("kills", 40, "how often TestKilledPagerRepeatsNothing kills the pager")

// Variables of the environment of a child process.
const (
	childDir = "TEST_PAGER_DIRECTORY"
	childURL = "TEST_PAGER_WEBHOOK"
)

const receiverConfig = `
route: {receiver: team, group_by: [job], group_wait: 100ms, group_interval: 1s}
receivers: [{name: team, webhook_configs: [{url: "`

// child runs a pager whose alert fires while a file exists.
func child(dir string) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "test_up", Help: "Up."}, func() float64 {
		if _, err := os.Stat(filepath.Join(dir, "fault")); err != nil {
			return 0
		}
		return 1
	}))
	c, err := amconfig.Load(receiverConfig + os.Getenv(childURL) + `"}]}]`)
	if err != nil {
		panic(err)
	}
	p, err := New(Options{
		Gatherer: registry, RuleFiles: []RuleFile{{Name: "quick", Data: []byte(quick)}}, Interval: time.Second,
		Dir: filepath.Join(dir, "pager"), Receivers: &receivers.Options{Config: c}, Instance: "child",
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		panic(err)
	}
	panic(p.Run(context.Background()))
}

// clinic kills and restarts a child process.
type clinic struct {
	t      *testing.T
	hook   *hook
	dir    string
	random *rand.Rand
	cmd    *exec.Cmd
	log    bytes.Buffer
	kills  int
	// unlogged are numbers of messages that a process was killed for before it could log them. Each may
	// be repeated once.
	unlogged map[int]bool
}

func (c *clinic) begin() {
	c.log.Reset()
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append(os.Environ(), childDir+"="+c.dir, childURL+"="+c.hook.URL)
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
	if all := c.hook.all(); len(all) > 0 && all[len(all)-1].Status != c.logged() {
		c.unlogged[len(all)-1] = true
	}
}

// logged returns the status of the last message that the killed process has logged.
func (c *clinic) logged() string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "pager", "notifications"))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		c.t.Fatal(err)
	}
	log, err := nflog.New(nflog.Options{SnapshotReader: bytes.NewReader(text), Metrics: prometheus.NewRegistry()})
	if err != nil {
		c.t.Fatalf("the log of messages is damaged: %v", err)
	}
	entries, err := log.Query(nflog.QGroupKey(`{}:{job="synthetic"}`), nflog.QReceiver(&nflogpb.Receiver{GroupName: "team", Integration: "webhook"}))
	switch {
	case err != nil:
		c.t.Fatalf("the log has no entry: %v", err)
	case len(entries[0].FiringAlerts) > 0:
		return "firing"
	}
	return "resolved"
}

// messages returns the status of each message, without repetitions of unlogged ones.
func (c *clinic) messages() (out []string) {
	for i, m := range c.hook.all() {
		if i == 0 || !c.unlogged[i-1] || m.Status != out[len(out)-1] {
			out = append(out, m.Status)
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
	c := &clinic{t: t, hook: newHook(t), dir: t.TempDir(), random: rand.New(rand.NewPCG(1, uint64(kills))), unlogged: map[int]bool{}}
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
		for range 1 + c.random.IntN(5) {
			c.begin()
			time.Sleep(time.Duration(c.random.Int64N(int64(1500 * time.Millisecond)))) // at any moment
			c.kill()
		}
		c.begin()
		for timeout := time.After(time.Minute); len(c.messages()) < len(want); {
			select {
			case <-c.hook.received:
			case <-timeout:
				t.Fatalf("after %d kills, message %q is lost; messages: %q; log:\n%s", c.kills, want[len(want)-1], c.messages(), c.log.String())
			}
		}
		time.Sleep(time.Duration(c.random.Int64N(int64(100 * time.Millisecond)))) // at any moment
		c.kill()
		if got := c.messages(); len(got) != len(want) || got[len(got)-1] != want[len(want)-1] {
			t.Fatalf("after %d kills: messages %q, not %q", c.kills, got, want)
		}
	}
	t.Logf("%d kills, %d starts and ends of faults, %d messages; %d kills came before a message was logged", c.kills, len(want), len(c.hook.all()), len(c.unlogged))
}
