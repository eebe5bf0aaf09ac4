package status

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/sink"
	"synthetic/internal/sidecar/store"
)

// TestIncidentsOutliveTheProcess: a page that restores the lines of another shows the same incident, with its timeline
// and its worst turns.
func TestIncidentsOutliveTheProcess(t *testing.T) {
	old := pageAt(noon)
	slow(old)
	old.Add(jobOf("t", "w", objectives()...))
	feed(old, turn(9*time.Minute, first, ttft(3*time.Second)), turn(30*time.Minute, first, ttft(3*time.Second)))
	old.options.Marks.Add(sink.Mark{At: noon.Add(-30 * time.Minute), Source: sink.MarkDeploy, Text: "release 7"})
	old.Alert(told("SyntheticRegression", "page", 10*time.Minute, 0))
	feed(old, turn(3*time.Minute, first, ttft(9*time.Second)), turn(time.Minute, failing(probe.Stall, "no byte for 30 s")))
	lines := old.SaveIncidents(false)
	if again := old.SaveIncidents(false); len(again) != 0 {
		t.Errorf("an unchanged incident is saved again: %s", again)
	}
	old.Alert(told("SyntheticRegression", "page", 10*time.Minute, 8*time.Minute))
	lines = append(lines, old.SaveIncidents(false)...)
	i := old.incidentsNow()[0]

	later := noon.Add(24 * time.Hour)
	p := New(Options{Now: func() time.Time { return later }, Alerts: func() (Alerts, bool) { return Alerts{}, true }})
	if err := p.RestoreIncidents(lines); err != nil {
		t.Fatal(err)
	}
	if list := get(t, p, "/alerts").Body.String(); strings.Count(list, `href="incidents/`+i.ID) != 1 {
		t.Errorf("the list does not name it once: %s", list)
	}
	w := get(t, p, "/incidents/"+i.ID)
	for _, want := range []string{i.Headline(), "release 7", "SyntheticRegression fires", "after 8 min", "no byte for 30 s", "lasted"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("its page answers %d without %q: %s", w.Code, want, w.Body)
		}
	}
	if got := p.incidentsNow()[0]; len(got.Worst) != len(i.Worst) || got.Worst[0].TraceID != i.Worst[0].TraceID || got.CutText() != i.CutText() || !maps.Equal(got.Bad, map[string]int{"quick": 3, "answer": 3, "pace": 1, "even": 3, "short": 1, "up": 1}) {
		t.Errorf("its turns are %+v and %v, want %+v", got.Worst, got.Bad, i.Worst)
	}
	all := p.SaveIncidents(true)
	if first := lines[bytes.IndexByte(lines, '\n')+1:]; !bytes.Equal(all, first) {
		t.Errorf("saved again it is\n%s, was\n%s", all, first)
	}
}

// TestRestoredIncidentGoesOn: an alert that the pager reports again continues the restored incident; another one ends.
func TestRestoredIncidentGoesOn(t *testing.T) {
	old := pageAt(noon)
	other := func(c *AlertChange) { c.Labels["target"] = "u" }
	fires := told("Slow", "page", 20*time.Minute, 0)
	old.Alert(fires)
	old.Alert(told("Slow", "page", 20*time.Minute, 0, other))
	lines := old.SaveIncidents(false)

	p := pagerSays(fires)
	now := noon.Add(time.Minute)
	p.options.Now = func() time.Time { return now }
	p.started = now
	if err := p.RestoreIncidents(lines); err != nil {
		t.Fatal(err)
	}
	for _, ago := range []time.Duration{time.Minute, reopens} {
		now = p.started.Add(ago)
		p.SaveIncidents(false)
		over := map[string]bool{}
		for _, i := range p.incidentsNow() {
			over[i.About.Target] = !i.Ended.IsZero()
		}
		if want := map[string]bool{"t": false, "u": ago == reopens}; !maps.Equal(over, want) {
			t.Errorf("after %v they are over: %v, want %v", ago, over, want)
		}
	}
	p.Alert(told("Slow", "page", 20*time.Minute, 30*time.Minute))
	if all := p.incidentsNow(); len(all) != 2 || all[0].Ended.IsZero() || len(all[0].Alerts) != 1 {
		t.Errorf("after its end: %+v", all)
	}
}

// TestEndWithoutStart: the end of an alert that an earlier process reported, and did not save, makes an incident.
func TestEndWithoutStart(t *testing.T) {
	p := pageAt(noon)
	p.Alert(told("Slow", "page", 10*time.Minute, 8*time.Minute))
	p.Alert(told("Slow", "page", 10*time.Minute, 8*time.Minute))
	all := p.incidentsNow()
	if len(all) != 1 || len(all[0].Alerts) != 1 || !all[0].Started.Equal(noon.Add(-10*time.Minute)) || !all[0].Ended.Equal(noon.Add(-2*time.Minute)) {
		t.Errorf("the incidents are %+v", all)
	}
}

// TestForgetsIncidents: finished incidents are bounded by their age and their number, and damaged lines are skipped.
func TestForgetsIncidents(t *testing.T) {
	var lines []byte
	at := func(n int) time.Time { return noon.Add(time.Duration(n-incidentsKept-9) * time.Hour) }
	for n := range incidentsKept + 10 {
		p := pageAt(at(n))
		p.Alert(AlertChange{At: at(n), Lasted: time.Minute, Labels: map[string]string{"alertname": "Slow", "target": fmt.Sprint("t", n)}})
		lines = append(lines, p.SaveIncidents(true)...)
	}
	p := pageAt(noon)
	err := p.RestoreIncidents(slices.Concat(lines, []byte("{\"id\":\"x\"}\nnot JSON\n")))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d: it has no id or no alert", incidentsKept+11)) {
		t.Errorf("damaged lines: %v", err)
	}
	if got := p.incidentsNow(); len(got) != incidentsKept || got[0].About.Target != fmt.Sprint("t", incidentsKept+9) {
		t.Errorf("%d incidents are left", len(got))
	}
	p.options.Now = func() time.Time { return noon.Add(incidentAge - 2*time.Hour) }
	if text := p.SaveIncidents(true); bytes.Count(text, []byte("\n")) != 3 {
		t.Errorf("after 90 days there are still %s", text)
	}
}

var killsFlag = flag.Int("kills", 20, "how often TestKilledWriterOfIncidents kills the writer")

const writerEnv = "SYNTHETIC_TEST_INCIDENTS"

// TestKilledWriterOfIncidents kills a process that saves incidents, at random moments, and starts it again. Each start
// and end of an alert that was saved before a kill is there after it, once.
func TestKilledWriterOfIncidents(t *testing.T) {
	if path := os.Getenv(writerEnv); path != "" {
		writeIncidents(t, path)
		return
	}
	kills := *killsFlag
	if testing.Short() {
		kills = 4
	}
	path := filepath.Join(t.TempDir(), "state.incidents")
	said := map[string]string{}
	random := rand.New(rand.NewPCG(1, uint64(kills)))
	for range kills {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriterOfIncidents$")
		cmd.Env = append(os.Environ(), writerEnv+"="+path)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		left := random.IntN(5) // so that 200 kills leave fewer incidents than are kept
		for in := bufio.NewScanner(out); in.Scan(); {
			target, change, ok := strings.Cut(in.Text(), " ")
			if !ok || change != "starts" && change != "ends" {
				t.Fatalf("the writer says %q", in.Text())
			}
			if said[target] = change; left == 0 {
				_ = cmd.Process.Kill()
			}
			left--
		}
		_ = cmd.Wait() // the error says that it was killed
		checkIncidents(t, path, said)
	}
	t.Logf("%d kills, %d incidents", kills, len(said))
}

// checkIncidents compares the incidents on the disk with what the writer has said.
func checkIncidents(t *testing.T, path string, said map[string]string) {
	t.Helper()
	_, text, err := store.ReadLines(path, 1<<20)
	p := pageAt(noon)
	if err == nil {
		err = p.RestoreIncidents(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]incident{}
	for _, i := range p.incidentsNow() {
		if _, double := found[i.About.Target]; double || len(i.Alerts) != 1 {
			t.Errorf("%s is doubled: %+v", i.About.Target, i.Alerts)
		}
		found[i.About.Target] = i
	}
	for target, change := range said {
		if i, ok := found[target]; !ok || change == "ends" && i.Ended.IsZero() {
			t.Errorf("%s %s, but that is lost (known: %v)", target, change, ok)
		}
	}
}

// writeIncidents starts and ends an alert of one target after the other, and says so after it has saved it. It also
// tells again the last change, which the pager does after a kill.
func writeIncidents(t *testing.T, path string) {
	lines, text, err := store.ReadLines(path, 1<<20)
	p := pageAt(noon)
	if err == nil {
		err = p.RestoreIncidents(text)
	}
	for n := max(len(p.incidentsNow())-1, 0); err == nil; n++ {
		for _, change := range []string{"starts", "ends"} {
			c := AlertChange{
				Firing: change == "starts", At: noon.Add(time.Duration(n) * time.Second),
				Labels: map[string]string{"alertname": "Slow", "severity": "page", "target": fmt.Sprint("t", n)},
			}
			if !c.Firing {
				c.Lasted = time.Second
			}
			p.Alert(c)
			if n%3 == 0 {
				lines.Replace()
			}
			if err = lines.Save(p.SaveIncidents); err == nil {
				_, err = fmt.Println(c.Labels["target"], change)
			}
		}
	}
	t.Fatal(err)
}
