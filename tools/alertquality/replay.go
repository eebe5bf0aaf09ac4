package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"synthetic/internal/fleet"
	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/workload"
	"synthetic/internal/rules"
	"synthetic/internal/slo"
	"synthetic/tools/alertquality/engine"
	"synthetic/tools/alertquality/worlds"
	"synthetic/tools/testkit/turns"
)

// replayed is the result of a replay.
type replayed struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Jobs []job     `json:"jobs"`
	// FalsePages has the rate in 30 days with its 95 % interval.
	FalsePages engine.Rate   `json:"false_pages"`
	Pages      []engine.Page `json:"pages"`
	Incidents  []found       `json:"incidents"`
}

// job is a target and workload of a log, with its turns and its mean rate.
type job struct {
	Target                 string  `json:"target"`
	Workload               string  `json:"workload"`
	Turns                  int     `json:"turns"`
	ConversationsPerMinute float64 `json:"conversations_per_minute"`
}

// found says after how many seconds an incident had a page and a ticket; null means not in time.
type found struct {
	Name          string   `json:"name"`
	PageSeconds   *float64 `json:"page_seconds"`
	TicketSeconds *float64 `json:"ticket_seconds"`
	Pages         int      `json:"pages"`
}

// replay scores turn logs that the flags name, and writes the scores as JSON.
func replay(ctx context.Context, args []string, to io.Writer) error {
	f := flag.NewFlagSet("replay", flag.ExitOnError)
	logs := f.String("turns", "", "turn logs in the order of time, separated by commas")
	labelled := f.String("incidents", "", "CSV file of incidents: name,from,to[,within]")
	ttft := f.Duration("ttft", 0, "objective that 99 % of the turns have a lower TTFT; 0 for none")
	_ = f.Parse(args)
	if *logs == "" || *labelled == "" || f.NArg() > 0 {
		return usage{errors.New("replay needs -turns=LOG and -incidents=CSV, and nothing else but -ttft")}
	}
	paths := strings.Split(*logs, ",")
	result, err := survey(turns.All(paths...))
	if err != nil {
		return usage{err}
	}
	o := engine.Outcome{Days: result.To.Sub(result.From).Hours() / 24}
	if o.Incidents, err = readIncidents(*labelled, result.From, result.To); err != nil {
		return usage{err}
	}
	if o.Spans, err = result.play(ctx, turns.All(paths...), objectives(*ttft)); err != nil {
		return err
	}
	result.score(o)
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(result)
}

// mostDisorder is how much earlier than another turn a later line may have ended.
const mostDisorder = time.Minute

// survey finds the jobs of a log and its length.
func survey(log iter.Seq2[turns.Turn, error]) (*replayed, error) {
	jobs, s := map[probe.Key]*job{}, &replayed{}
	for t, err := range log {
		if err != nil {
			return nil, err
		}
		r := t.Result()
		if r.End.Before(s.To.Add(-mostDisorder)) {
			return nil, fmt.Errorf("%s:%d: the turn ended at %s, but an earlier line at %s: give the logs in the order of time", t.File, t.Line, r.End.Format(time.RFC3339), s.To.Format(time.RFC3339))
		}
		if s.From.IsZero() {
			s.From = r.Sent
		}
		if r.End.After(s.To) {
			s.To = r.End
		}
		j := jobs[r.Key()]
		if j == nil {
			j = &job{Target: t.Target, Workload: t.Workload}
			jobs[r.Key()] = j
		}
		j.Turns++
		if r.Kind == probe.First && !r.Burst {
			j.ConversationsPerMinute++
		}
	}
	if len(jobs) == 0 {
		return nil, errors.New("-turns: the log has no turns")
	}
	for _, key := range slices.SortedFunc(maps.Keys(jobs), probe.Key.Compare) {
		j := *jobs[key]
		j.ConversationsPerMinute /= max(1, s.To.Sub(s.From).Minutes())
		s.Jobs = append(s.Jobs, j)
	}
	return s, nil
}

// readIncidents reads a CSV file of incidents, which must lie in the time of the log.
func readIncidents(path string, from, to time.Time) (all []engine.Incident, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord, rows.Comment = -1, '#'
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := rows.FieldPos(0)
		if line == 1 && row[0] == "name" {
			continue
		}
		i, err := parseIncident(row)
		if err == nil && (i.From.Before(from) || i.To.After(to)) {
			err = fmt.Errorf("%s to %s is not within the log, %s to %s: correct the times or give the whole log", row[1], row[2], from.Format(time.RFC3339), to.Format(time.RFC3339))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b engine.Incident) int { return a.From.Compare(b.From) })
	return all, nil
}

func parseIncident(row []string) (i engine.Incident, err error) {
	if len(row) != 3 && len(row) != 4 {
		return i, fmt.Errorf("%d fields: write name,from,to or name,from,to,within", len(row))
	}
	i.Name = row[0]
	for n, at := range []*time.Time{&i.From, &i.To} {
		if *at, err = time.Parse(time.RFC3339, row[1+n]); err != nil {
			return i, fmt.Errorf("%q is no time: write one such as 2026-01-05T08:00:00Z", row[1+n])
		}
	}
	if !i.From.Before(i.To) {
		return i, fmt.Errorf("%q ends before it begins: swap %s and %s", i.Name, row[1], row[2])
	}
	i.Within = i.To.Sub(i.From)
	if len(row) == 4 {
		if i.Within, err = time.ParseDuration(row[3]); err != nil || i.Within <= 0 {
			return i, fmt.Errorf("%q is no time to a page: write one such as 15m", row[3])
		}
	}
	return i, nil
}

// objectives are the SLOs that the generated rules have in a replay.
func objectives(ttft time.Duration) []slo.Objective {
	const month = 30 * 24 * time.Hour
	all := []slo.Objective{{Name: "availability", SLI: slo.Availability, Objective: 0.995, Window: month}}
	if ttft > 0 {
		all = append(all, slo.Objective{Name: "ttft", SLI: slo.TTFT, Threshold: ttft, Objective: 0.99, Window: month})
	}
	return all
}

// play plays a log through the generated rules and returns when alerts fired.
func (s *replayed) play(ctx context.Context, log iter.Seq2[turns.Turn, error], objectives []slo.Objective) ([]engine.Span, error) {
	const timeout = 2 * time.Minute // of a turn
	p := &engine.Player{Sidecar: engine.NewSidecar(s.From), Scraped: s.From}
	in := rules.Input{SLOs: objectives}
	for _, j := range s.Jobs {
		in.Jobs = append(in.Jobs, rules.Job{
			Target: j.Target, Workload: j.Workload, TurnTimeout: timeout,
			ConversationsPerMinute: j.ConversationsPerMinute, TurnsPerMinute: max(j.ConversationsPerMinute, float64(j.Turns)/s.To.Sub(s.From).Minutes()),
		})
		p.Add(fleet.Job{
			Job: probe.Job{
				Target:   target.Target{Name: j.Target, Connection: target.Reuse},
				Workload: workload.Spec{Name: j.Workload, Timeouts: workload.Timeouts{Total: timeout}},
				Traffic:  workload.Traffic{Arrival: workload.Arrival{Rate: j.ConversationsPerMinute / 60}},
			},
			Objectives: objectives, Policy: fleet.DefaultPolicy(),
		})
	}
	text, err := worlds.RulesText(in)
	if err != nil {
		return nil, err
	}
	loaded, err := engine.Load(text, engine.Interval)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(log)
	defer stop()
	p.Play = player(next, p.Sidecar)
	return loaded.Replay(ctx, p, s.From, s.To)
}

// player returns a function that plays turns up to a time into a sidecar, each when it ended.
func player(next func() (turns.Turn, error, bool), to *engine.Sidecar) func(time.Time) error {
	t, err, more := next()
	return func(until time.Time) error {
		for ; more && err == nil; t, err, more = next() {
			r := t.Result()
			if r.End.After(until) {
				return nil
			}
			if r.End.After(to.Now) {
				to.Now = r.End
			}
			if r.Kind == probe.First {
				to.Observe(probe.ConversationStart{Target: r.Target, Workload: r.Workload})
			}
			to.Observe(probe.Start{Target: r.Target, Workload: r.Workload, Kind: r.Kind})
			to.Observe(r)
		}
		return err
	}
}

// score adds the scores of the alerts that fired.
func (s *replayed) score(o engine.Outcome) {
	pages, detections := o.Judge()
	s.Pages, s.Incidents = append([]engine.Page{}, pages...), []found{}
	s.FalsePages = engine.NewScore("", []engine.Outcome{o}).False
	inTime := func(seconds float64) *float64 {
		if math.IsInf(seconds, 1) {
			return nil
		}
		return &seconds
	}
	for _, d := range detections {
		s.Incidents = append(s.Incidents, found{d.Name, inTime(d.ToPage), inTime(d.ToTicket), d.Pages})
	}
}
