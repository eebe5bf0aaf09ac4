package sidecar_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/atomicfile"
	"synthetic/internal/config"
	"synthetic/internal/sidecar"
	"synthetic/internal/sidecar/store"
	"synthetic/internal/simulate"
	"synthetic/tools/testkit/stage"
)

// logged is a log to which several goroutines write.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestDamagedHistory: a damaged history file is renamed, and the temporary file of a killed process is
// removed.
func TestDamagedHistory(t *testing.T) {
	dir := t.TempDir()
	state, stray := filepath.Join(dir, "baselines.json"), filepath.Join(dir, atomicfile.TempPrefix+"baselines.json.history.12")
	for _, path := range []string{state + ".history", stray} {
		if err := os.WriteFile(path, []byte("not one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := &logged{}
	s, err := sidecar.New(sidecar.Options{StateFile: state, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	kept, err := os.ReadFile(state + ".history.damaged")
	if err != nil || string(kept) != "not one" || !strings.Contains(log.String(), "The history file is damaged") {
		t.Errorf("kept %q, error %v, log\n%s", kept, err, log)
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("the temporary file is still there")
	}
}

// TestHistoryIsSaved: the history is saved once an hour and at the end.
func TestHistoryIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, end := newSite(t, forgetfulPager)
		defer end()
		_, stop := s.begin()
		file := s.stateFile() + ".history"
		time.Sleep(59 * time.Minute)
		if _, err := os.Stat(file); err == nil {
			t.Error("it was saved within the hour")
		}
		time.Sleep(2 * time.Minute)
		if _, err := store.Read(file); err != nil {
			t.Errorf("after an hour: %v", err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		stop()
		if _, err := os.Stat(file); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
}

// prometheus answers query_range with an hour of one signal, from a start time on and to authorized
// requests.
type prometheus struct {
	mu      sync.Mutex
	up      time.Time
	last    time.Time // the last minute with samples
	refused int
}

func (p *prometheus) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().Before(p.up) || r.Header.Get("Authorization") != "Bearer hunter2" {
		p.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	result := make([]string, 3)
	for i, counter := range []string{"turns_total", "log2_total", "baseline_log2_total"} {
		var values []string
		for m := range 61 {
			at := p.last.Add(time.Duration(m-60) * time.Minute).Unix()
			values = append(values, fmt.Sprintf(`[%d, "%v"]`, at, float64(m)*[]float64{3, 3 * math.Log2(2e5), 3 * math.Log2(1e5)}[i]))
		}
		result[i] = fmt.Sprintf(`{"metric": {"__name__": "synthetic_signal_%s", "turn": "first", "signal": "ttft"}, "values": [%s]}`, counter, strings.Join(values, ","))
		if from, _, _ := strings.Cut(r.FormValue("end"), "."); from != fmt.Sprint(p.last.Unix()) {
			result[i] = `{"metric": {}, "values": []}`
		}
	}
	fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "matrix", "result": [%s]}}`, strings.Join(result, ","))
}

// TestReadBack: a process without a state reads its history from Prometheus, and tries again until
// Prometheus is up. Turns start before that. The log does not contain the token.
func TestReadBack(t *testing.T) {
	for name, tt := range map[string]struct {
		up   time.Duration
		want string
	}{
		"at once": {0, "Read the history back from Prometheus\" minutes=60"},
		"later":   {2 * time.Minute, "Read the history back from Prometheus\" minutes=60"},
		"never":   {time.Hour, "Cannot read the history of some jobs back from Prometheus"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "token"), []byte("hunter2"), 0o600); err != nil {
					t.Fatal(err)
				}
				cfg, err := config.Parse("synthetic.yml", []byte(alertsConfig+"state: {prometheus: {url: \"http://prometheus:80\", http_client: {authorization: {credentials_file: token}}}}\n"), dir)
				if err != nil {
					t.Fatal(err)
				}
				server := &prometheus{up: time.Now().Add(tt.up), last: time.Now().Truncate(time.Minute)}
				wires := map[string]*simulate.Pipes{"deployment:80": simulate.NewPipes(), "prometheus:80": simulate.NewPipes()}
				defer simulate.Serve(wires["deployment:80"], simulate.New(healthyOptions()))()
				defer simulate.Serve(wires["prometheus:80"], server)()
				log := &logged{}
				o := sidecar.Options{
					Logger: slog.New(slog.NewTextHandler(log, nil)), DrainTimeout: time.Second,
					Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
						return wires[addr].Dial(ctx, network, addr)
					},
				}
				s, err := sidecar.New(o)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Apply(cfg); err != nil {
					t.Fatal(err)
				}
				stop := stage.Run(t, s)
				time.Sleep(time.Minute)
				if turns := s.Status().Jobs[0].Turns; turns == 0 {
					t.Error("no turn before the history was read")
				}
				if len(s.Status().Jobs[0].Signals) == 0 {
					t.Error("the page shows no signal")
				}
				time.Sleep(15 * time.Minute)
				stop()
				text := log.String()
				if !strings.Contains(text, tt.want) || strings.Contains(text, "hunter2") {
					t.Errorf("refused %d times, log:\n%s", server.refused, text)
				}
			})
		})
	}
}
