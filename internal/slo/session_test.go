package slo_test

import (
	"testing"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/slo"
)

// TestSession judges conversations against a threshold of a minute.
func TestSession(t *testing.T) {
	o := slo.Objective{SLI: slo.Session, Threshold: time.Minute, Objective: 0.99, Targets: []string{"a"}}
	sent := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		lasts time.Duration
		probe.Conversation
		want slo.Judgement
	}{
		"at the threshold":            {time.Minute, probe.Conversation{Outcome: probe.Success}, slo.Good},
		"above it":                    {time.Minute + 1, probe.Conversation{Outcome: probe.Success}, slo.Bad},
		"above it by the prober":      {time.Minute + 1, probe.Conversation{Outcome: probe.Success, Lag: 1}, slo.NotJudged},
		"good with a late prober":     {time.Second, probe.Conversation{Outcome: probe.Success, Lag: time.Hour}, slo.Good},
		"a failed turn":               {time.Second, probe.Conversation{Outcome: probe.HTTP5xx, Lag: time.Hour}, slo.Bad},
		"a failed turn after its end": {time.Hour, probe.Conversation{Outcome: probe.Stall}, slo.Bad},
		"ended by the prober":         {time.Second, probe.Conversation{Outcome: probe.Canceled}, slo.NotJudged},
		"ended by the prober, late":   {time.Hour, probe.Conversation{Outcome: probe.Canceled}, slo.Bad},
		"ended by a user":             {time.Second, probe.Conversation{Outcome: probe.UserCanceled}, slo.NotJudged},
		"a fault of the prober":       {time.Hour, probe.Conversation{Outcome: probe.NotSent}, slo.NotJudged},
		"shortened":                   {time.Second, probe.Conversation{Outcome: probe.Success, Shortened: true}, slo.NotJudged},
		"shortened, late":             {time.Hour, probe.Conversation{Outcome: probe.Success, Shortened: true}, slo.Bad},
		"of a burst":                  {time.Hour, probe.Conversation{Outcome: probe.HTTP5xx, Burst: true}, slo.NotJudged},
	} {
		c.Target, c.Sent, c.End = "a", sent, sent.Add(c.lasts)
		if got := o.JudgeSession(&c.Conversation); got != c.want {
			t.Errorf("%s: judgement %d, want %d", name, got, c.want)
		}
		c.Target = "b"
		if got := o.JudgeSession(&c.Conversation); got != slo.NotJudged {
			t.Errorf("%s: judged for another target", name)
		}
	}
	if o.JudgeSession(&probe.Conversation{Target: "a", Outcome: probe.Canceled}) != slo.NotJudged {
		t.Error("a conversation without a turn is judged")
	}
	if o.Judge(&probe.Result{Target: "a", Outcome: probe.HTTP5xx}) != slo.NotJudged {
		t.Error("a turn is judged")
	}
	other := slo.Objective{SLI: slo.TurnDuration, Threshold: time.Second}
	if other.JudgeSession(&probe.Conversation{Sent: sent, End: sent.Add(time.Hour)}) != slo.NotJudged {
		t.Error("an objective on turns judges a conversation")
	}
}
