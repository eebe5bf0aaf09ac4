package waterfall

import (
	"fmt"
	"io"
	"strings"
	"time"

	"synthetic/internal/probe"
)

// barWidth is the width of the time axis in columns.
const barWidth = 48

// bar is one row of a waterfall: from and to count from the turn's sending.
type bar struct {
	label    string
	from, to time.Duration
	note     string
}

// WriteTurn writes one turn as it ends: a headline, bars on an axis that is as
// long as the turn, and the tokens.
func WriteTurn(w io.Writer, r probe.Result) error {
	var b strings.Builder
	mark := "ok  "
	if r.Outcome != probe.Success {
		mark = "FAIL"
	}
	fmt.Fprintf(&b, "%s turn %d (%s)  %s  %s\n", mark, r.Turn, r.Kind, r.Outcome, headline(r))
	if r.Err != "" {
		fmt.Fprintf(&b, "     %s\n", r.Err)
	}
	for _, bar := range bars(r) {
		line := fmt.Sprintf("     %-11s %s %9s  %s", bar.label, draw(bar, r.Duration()), Short(bar.to-bar.from), bar.note)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	fmt.Fprintf(&b, "     %s\n     trace %s\n\n", tokens(r), r.TraceID)
	_, err := io.WriteString(w, b.String())
	return err
}

func headline(r probe.Result) string {
	p50, longest := gaps(r.Gaps)
	parts := []string{"TTFT " + opt(r.TTFT)}
	if r.AnswerTTFT.OK && r.AnswerTTFT != r.TTFT {
		parts = append(parts, "answer TTFT "+opt(r.AnswerTTFT))
	}
	parts = append(parts, "TPOT "+opt(r.TPOT), "ITL p50 "+opt(p50)+" max "+opt(longest), "total "+Short(r.Duration()))
	return strings.Join(parts, "  ")
}

// bars lists what happened, in the order in which it did.
func bars(r probe.Result) []bar {
	var rows []bar
	at := time.Duration(0)
	for _, step := range []struct {
		label string
		took  probe.Opt[time.Duration]
	}{{"dns", r.Phases.DNS}, {"connect", r.Phases.Connect}, {"tls", r.Phases.TLS}} {
		if step.took.OK {
			rows = append(rows, bar{label: step.label, from: at, to: at + step.took.V})
			at += step.took.V
		}
	}
	reused := ""
	if r.Phases.Reused {
		reused = "on a kept connection"
	}
	if r.Phases.Headers.OK {
		rows = append(rows, bar{"headers", at, r.Phases.Headers.V, reused})
		at = r.Phases.Headers.V
	}
	if r.Phases.FirstEvent.OK && r.Phases.FirstEvent != r.Phases.Headers { // it often comes with them
		rows = append(rows, bar{"first event", at, r.Phases.FirstEvent.V, ""})
		at = r.Phases.FirstEvent.V
	}
	if r.TTFT.OK {
		rows = append(rows, bar{"first token", at, r.TTFT.V, "TTFT " + Short(r.TTFT.V)})
		at = r.TTFT.V
		rows = append(rows, bar{"tokens", at, r.Duration(), fmt.Sprintf("%d events", r.Events)})
	} else if at < r.Duration() {
		rows = append(rows, bar{"waiting", at, r.Duration(), "no token came"})
	}
	return rows
}

// draw places a bar on the axis; whatever has a length gets at least a sliver.
func draw(b bar, total time.Duration) string {
	if total <= 0 {
		return "|" + strings.Repeat(" ", barWidth) + "|"
	}
	column := func(d time.Duration) int {
		return min(barWidth, max(0, int(float64(d)/float64(total)*barWidth+0.5)))
	}
	from, to := column(b.from), column(b.to)
	fill := "█"
	if to == from {
		fill, from = "▏", min(from, barWidth-1)
		to = from + 1
	}
	return "|" + strings.Repeat(" ", from) + strings.Repeat(fill, to-from) + strings.Repeat(" ", barWidth-to) + "|"
}

func tokens(r probe.Result) string {
	cached := "n/a"
	if r.CachedTokens.OK {
		cached = fmt.Sprint(r.CachedTokens.V)
		if r.PromptTokens.OK && r.PromptTokens.V > 0 {
			cached += fmt.Sprintf(" (%.0f %%)", 100*float64(r.CachedTokens.V)/float64(r.PromptTokens.V))
		}
	}
	output := optInt(r.OutputTokens)
	if r.UsageMissing {
		output = "about " + output + " (the server sent no usage: counted from events)"
	}
	return fmt.Sprintf("prompt %s tokens, cached %s, output %s", optInt(r.PromptTokens), cached, output)
}

func opt(d probe.Opt[time.Duration]) string {
	if !d.OK {
		return "n/a"
	}
	return Short(d.V)
}

func optInt(n probe.Opt[int]) string {
	if !n.OK {
		return "n/a"
	}
	return fmt.Sprint(n.V)
}

// Short writes a duration with three significant digits: "812 µs", "18.2 ms",
// "1.93 s".
func Short(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Short(-d)
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return three(float64(d)/float64(time.Millisecond)) + " ms"
	}
	return three(d.Seconds()) + " s"
}

func three(v float64) string {
	s := fmt.Sprintf("%.2f", v)
	switch {
	case v >= 100:
		s = fmt.Sprintf("%.0f", v)
	case v >= 10:
		s = fmt.Sprintf("%.1f", v)
	}
	return s
}
