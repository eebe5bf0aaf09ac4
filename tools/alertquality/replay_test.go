package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/tools/alertquality/worlds"
)

// turnLog collects the lines of a turn log of two targets, which behave alike.
type turnLog struct{ bytes.Buffer }

func (l *turnLog) Observe(e probe.Event) {
	if r, ok := e.(probe.Result); ok {
		l.Write(r.AppendLine(nil))
		r.Target = "copy"
		l.Write(r.AppendLine(nil))
	}
}

// TestReplay plays 40 minutes with an outage into a log, and finds the outage in the log.
func TestReplay(t *testing.T) {
	t.Parallel()
	outage := worlds.Fault{Name: "outage", Kind: worlds.Outage}
	model := worlds.Typical()
	model.ConversationsPerMinute = 4
	var log turnLog
	worlds.Play(worlds.SimulationOptions{
		Model: model, Seed: 1, Length: 40 * time.Minute, Injections: []worlds.Injection{{Fault: outage, From: 20 * time.Minute, To: 30 * time.Minute}},
	}, &log, func(time.Time) {})
	dir := t.TempDir()
	turnFile, labels := filepath.Join(dir, "turns.jsonl"), filepath.Join(dir, "incidents.csv")
	write(t, turnFile, log.String())
	write(t, labels, "name,from,to,within\nquiet,2026-01-05T00:01:00Z,2026-01-05T00:04:00Z\nouter,2026-01-05T00:20:00Z,2026-01-05T00:30:00Z,5m\n")
	var out bytes.Buffer
	if err := replay(t.Context(), []string{"-turns=" + turnFile, "-incidents=" + labels, "-ttft=5s"}, &out); err != nil {
		t.Fatal(err)
	}
	var got replayed
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Jobs) != 2 || got.FalsePages.Count != 0 || len(got.Incidents) != 2 {
		t.Fatalf("%s", &out)
	}
	quiet, outer, rate := got.Incidents[0], got.Incidents[1], got.Jobs[0].ConversationsPerMinute
	if quiet.PageSeconds != nil || quiet.Pages != 0 || outer.Pages != 2 || *outer.PageSeconds < 30 || *outer.PageSeconds > 180 || rate < 2.5 || rate > 5.5 {
		t.Errorf("%s", &out)
	}
}

// TestReplayRefuses: a mistake is named with its file, line and value.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	const turn = `{"at":"2026-01-05T08:00:00Z","target":"a","workload":"b","turn":"first","outcome":"success","duration_seconds":3600,"v":1}` + "\n"
	late := strings.Replace(turn, "08:00", "09:30", 1)
	for name, tt := range map[string]struct{ log, labels, want string }{
		"no JSON":          {turn + "{", "", `turns.jsonl:2: "{" is no JSON object`},
		"outcome":          {strings.Replace(turn, "success", "fine", 1), "", `turns.jsonl:1: outcome is "fine": write one of`},
		"version":          {strings.Replace(turn, `"v":1`, `"v":2`, 1), "", "the key v is 2"},
		"order":            {late + turn, "", "turns.jsonl:2: the turn ended at 2026-01-05T09:00:00Z, but an earlier line at 2026-01-05T10:30:00Z"},
		"empty":            {"", "", "the log has no turns"},
		"time":             {turn, "name,from,to\na,yesterday,2026-01-05T08:10:00Z", `incidents.csv:2: "yesterday" is no time`},
		"fields":           {turn, "a,b", "incidents.csv:1: 2 fields: write name,from,to"},
		"order of times":   {turn, "a,2026-01-05T08:10:00Z,2026-01-05T08:05:00Z", `incidents.csv:1: "a" ends before it begins`},
		"outside":          {turn, "a,2026-01-05T08:10:00Z,2026-01-06T08:05:00Z", "is not within the log"},
		"time to be paged": {turn, "a,2026-01-05T08:10:00Z,2026-01-05T08:15:00Z,soon", `"soon" is no time to a page`},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "turns.jsonl"), tt.log)
		write(t, filepath.Join(dir, "incidents.csv"), tt.labels)
		err := replay(t.Context(), []string{"-turns=" + filepath.Join(dir, "turns.jsonl"), "-incidents=" + filepath.Join(dir, "incidents.csv")}, nil)
		if _, ok := err.(usage); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
