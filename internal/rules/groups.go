package rules

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v3"

	"synthetic/internal/probe"
	"synthetic/internal/sidecar/metrics"
	"synthetic/internal/slo"
)

//go:embed groups.yml
var groupsTemplate string

// generalGroups returns the rules that also exist without objectives. Some of them read these.
func (in Input) generalGroups(objectives []objective) ([]ruleGroup, error) {
	t, err := template.New("groups.yml").Delims("<<", ">>").Funcs(in.functions(objectives)).Parse(groupsTemplate)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, in); err != nil {
		return nil, err
	}
	var file struct{ Groups []ruleGroup }
	d := yaml.NewDecoder(&text)
	d.KnownFields(true)
	err = d.Decode(&file)
	return file.Groups, err
}

func (in Input) functions(objectives []objective) template.FuncMap {
	return template.FuncMap{
		"shareClasses": func() []class { return in.classes(15*time.Minute, 0.5) },
		"burstClasses": func() []class { return in.classes(5*time.Minute, 0.5) },
		"turnClasses":  func() []class { return in.classes(15*time.Minute, 1) },
		"sloNames":     in.sloNames, "judgedTurns": in.judgedTurns, "perOutage": perOutage, "seenFrom": constant(seenFrom),

		"configured": constant(recordConfigured), "lost": constant(recordLost), "lostBeat": constant(recordLostBeat), "regression": constant(recordRegression),
		"outage": constant(recordOutage), "explained": constant(recordExplained), "downPage": constant(recordDownPage), "fleetName": constant(recordFleet), "incident": constant(recordIncident), "pageBurn": constant(recordPageBurn),
		"replicaRatio": constant(recordReplicaRatio), "effect": constant(RecordEffect), "part": constant(RecordPart), "minEffect": func() string { return num(minEffect) },
		"services":      func() bool { return slices.Contains(in.TargetLabels, metrics.LabelService) },
		"serverMetrics": in.serverMetrics, "targetCause": in.targetCause, "fallbackCause": fallbackCause, "sharedCause": in.sharedCause, "downCause": in.downCause, "noToken": constant(recordNoToken), "stuck": constant(recordStuck),

		"andConfigured": constant(andConfigured), "pageVotes": constant(PageVotes), "ticketVotes": constant(TicketVotes),
		"unlessIncident": func(after string, causes ...string) (string, error) {
			d, err := time.ParseDuration(after)
			return unlessIncident(d, causes...), err
		},

		"knownReasons": func() string { return strings.Join(probe.FinishReasons(), "|") },
		"slowInterval": func() string { return slo.FormatDuration(slowInterval) },
		"equals":       equals, "selector": func(m string) string { return matchers{m}.selector("") },
		"noneOf": func(label string, values []string) string { return noneOf(label, values).selector("") },
		"short":  slo.FormatDuration,
		// exact formats a number so that it parses back to the same value.
		"exact": func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) },

		"foreignAnswers": constant(alertForeignAnswers),

		"setJob": constant(setJob), "queryCall": queryCall, "showFirst": showFirst, "cutPrompt": cutPrompt, "largestEffect": largestEffect, "effects": effects,
		"who": constant(who), "setCause": setCause, "whyNow": constant(whyNow), "step": step, "sinceThen": sinceThen, "failing": constant(recordFailing), "failingExpr": Failing, "began": constant(recordBegan), "beganExpr": func() string { return Began(len(in.SLOs) > 0) }, "failures": constant(fmt.Sprintf(failures, "")),
		"slos": func() bool { return len(in.SLOs) > 0 }, "burning": constant(recordBurning), "burningExpr": func() string { return burningExpr(objectives) }, "missing": missingExpr, "troubled": constant(recordTroubled), "sharedJobs": constant(sharedJobs),
		"setSharedReason": setSharedReason, "sharedURL": sharedURL,
		"acceptance": acceptance, "starvedText": starvedText,
	}
}

func (in Input) serverMetrics() bool {
	return slices.ContainsFunc(in.Jobs, func(j Job) bool { return j.ServerMetrics })
}

// perOutage divides consecutive failures by the number that counts as an outage.
func perOutage(failures string) string {
	return fmt.Sprintf("(%s) / ignoring (%s, __type__, __unit__) group_left (%[2]s) %s", failures, metrics.LabelURL, metrics.OutageTurns)
}

// judgedTurns selects the jobs with judged turns within a window. A job whose objectives judge only turns of
// some sizes, or that ask for codes, may have a window without such a turn, so all its turns count.
func (in Input) judgedTurns(window time.Duration) string {
	uncovered := len(slices.DeleteFunc(slices.Clone(in.Jobs), func(j Job) bool {
		return slices.ContainsFunc(in.SLOs, func(o slo.Objective) bool {
			return o.SLI != slo.Correct && o.Uncached == slo.Tokens{} && o.CoversJob(j.Target, j.Workload)
		})
	}))
	judged, ended := increase(perJob(), metrics.SLOTurns, window), increase(perJob(), metrics.Turns, window)
	switch {
	case uncovered == 0:
		return judged + " > 0"
	case uncovered == len(in.Jobs):
		return ended + " > 0"
	}
	return "(" + judged + " or " + ended + ") > 0"
}

func constant(s string) func() string { return func() string { return s } }

func (in Input) sloNames() []string {
	var names []string
	for _, o := range in.SLOs {
		names = append(names, o.Name)
	}
	return names
}
