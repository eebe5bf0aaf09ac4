package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// accounted fails unless started = ended + in flight, for the turns and conversations of
// every job in one scrape.
func accounted(t *testing.T, series map[string]float64) {
	t.Helper()
	checked := 0
	for _, unit := range []string{"turns", "conversations"} {
		for s, started := range series {
			labels, is := strings.CutPrefix(s, "synthetic_"+unit+"_started_total")
			if !is {
				continue
			}
			checked++
			ended, inFlight := series["synthetic_"+unit+"_total"+labels], series["synthetic_"+unit+"_in_flight"+labels]
			if started != ended+inFlight {
				t.Errorf("%s%s: started %v, ended %v, in flight %v", unit, labels, started, ended, inFlight)
			}
		}
	}
	if checked == 0 {
		t.Error("no series of started turns")
	}
}

func TestRunServesWhatItSees(t *testing.T) {
	_, server := fastDeployment(t)
	p := sidecarRun(t, configFor(t, "", map[string]string{"a": server.URL}))
	series := p.until("thirty turns", func(s map[string]float64) bool {
		n, _ := sum(s, "synthetic_turns_total")
		accounted(t, s)
		return n >= 30
	})
	for _, name := range []string{
		"synthetic_ttft_seconds_count", "synthetic_tpot_seconds_count", "synthetic_turn_duration_window_seconds_count", "synthetic_cached_prompt_tokens_total",
		"synthetic_slo_turns_total", "synthetic_output_tokens_total", "synthetic_phase_duration_seconds_count",
	} {
		if v, ok := sum(series, name); !ok || v == 0 {
			t.Errorf("%s is %v (found: %v)", name, v, ok)
		}
	}
	if v, _ := sum(series, "synthetic_turn_failures_total"); v != 0 {
		t.Errorf("%v failures on a healthy deployment", v)
	}
	for _, path := range []string{"/", "/-/healthy", "/-/ready", "/api/status"} {
		if code, body := p.get(path); code != http.StatusOK || body == "" {
			t.Errorf("GET %s: %d %q", path, code, body)
		}
	}
	if code, _ := p.do(http.MethodPost, "/-/reload"); code != http.StatusForbidden {
		t.Errorf("reloading without --web.enable-lifecycle: %d", code)
	}
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d after a stop; log:\n%s", code, p.err)
	}
}

func TestReload(t *testing.T) {
	_, a := fastDeployment(t)
	_, b := fastDeployment(t)
	file := filepath.Join(t.TempDir(), "synthetic.yml")
	writeConfig(t, file, "", map[string]string{"a": a.URL, "b": b.URL})
	p := sidecarRun(t, file, "--web.enable-lifecycle")
	turns := func(s map[string]float64, target string) float64 {
		v, _ := sum(s, "synthetic_turns_total", `target="`+target+`"`)
		return v
	}
	before := p.until("turns of both targets", func(s map[string]float64) bool { return turns(s, "a") > 5 && turns(s, "b") > 5 })

	if err := os.WriteFile(file, []byte("targets: [{base_url: 7, nonsense: 1}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, body := p.do(http.MethodPost, "/-/reload")
	if code != http.StatusInternalServerError || !strings.Contains(body, "nonsense") {
		t.Errorf("reloading a broken file: %d %s", code, body)
	}
	s := p.until("failed reload", func(s map[string]float64) bool { return s["synthetic_config_last_reload_successful"] == 0 })
	if turns(s, "b") < turns(before, "b") {
		t.Error("a failed reload lost series")
	}

	writeConfig(t, file, "", map[string]string{"a": a.URL})
	if code, body := p.do(http.MethodPost, "/-/reload"); code != http.StatusOK {
		t.Fatalf("reloading: %d %s", code, body)
	}
	after := p.until("end of target b's series", func(s map[string]float64) bool {
		_, found := sum(s, "synthetic_turns_total", `target="b"`)
		return !found
	})
	if turns(after, "a") < turns(before, "a") {
		t.Errorf("target a went from %v to %v turns over a reload", turns(before, "a"), turns(after, "a"))
	}
	if after["synthetic_config_last_reload_successful"] != 1 {
		t.Error("synthetic_config_last_reload_successful is not 1 after a good reload")
	}
	if v, found := sum(after, "synthetic_target_info", `target="b"`); found {
		t.Errorf("target b still has an info series of %v", v)
	}
}

func TestReloadBySignal(t *testing.T) {
	_, a := fastDeployment(t)
	file := configFor(t, "", map[string]string{"a": a.URL})
	p := sidecarRun(t, file)
	p.until("a turn", func(s map[string]float64) bool { v, _ := sum(s, "synthetic_turns_total"); return v > 0 })
	writeConfig(t, file, "", map[string]string{"c": a.URL})
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.until("turns of the new target", func(s map[string]float64) bool {
		v, _ := sum(s, "synthetic_turns_total", `target="c"`)
		return v > 0
	})
}

// TestSignalDuringTheStart: SIGHUP ends no process that still reads its files. The configuration is a pipe, which "run"
// reads until its end.
func TestSignalDuringTheStart(t *testing.T) {
	_, a := fastDeployment(t)
	pipe := filepath.Join(t.TempDir(), "synthetic.yml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "run", "--config.file="+pipe, "--web.listen-address=127.0.0.1:0", "--shutdown.timeout=5s")
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when "run" has opened it
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	// The signal makes it read the file once more.
	text := []byte("targets: [{name: a, model: m, base_url: \"" + a.URL + "/v1\"}]\n")
	if err := errors.Join(os.Remove(pipe), os.WriteFile(pipe, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	p.err.find(t, `msg="Listening on" address=(\S+)`)
}
