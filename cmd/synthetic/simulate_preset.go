package main

import (
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/simulate"
	"synthetic/internal/simulate/cluster"
)

// presetFlags are the flags of "synthetic simulate" about a cluster.
type presetFlags struct {
	name      string
	load      int
	speed     float64
	incidents []string
	// Flags of the paced deployment that were given.
	paced        map[string]*bool
	answerTokens bool
}

// pacedFlags lists the flags that say what a preset's cluster works out.
func pacedFlags() []string {
	return []string{"first-token", "first-token.spread", "prefill", "inter-token", "inter-token.spread", "tokens-per-event"}
}

// add adds the flags to those of the paced deployment.
func (f *presetFlags) add(c *kingpin.CmdClause) {
	c.Flag("preset", "Serve the model of a measured deployment, with queue, batch and cache, in place of fixed delays: "+
		strings.Join(presetNames(), ", ")+".").EnumVar(&f.name, presetNames()...)
	c.Flag("preset.load", "Conversations that other clients hold with the preset, without HTTP.").PlaceHolder("N").IntVar(&f.load)
	c.Flag("preset.speed", "How much faster than the clock the preset runs.").Default("1").Float64Var(&f.speed)
	c.Flag("incident", "A fault with a schedule, as in slow_prefill,at=1m,for=5m,factor=4 or http_500,at=30s,share=0.2 or worker_loss,workers=0+2; repeatable. The kinds: "+kinds()+".").
		PlaceHolder("INCIDENT").StringsVar(&f.incidents)
	f.paced = map[string]*bool{}
	for _, name := range pacedFlags() {
		f.paced[name] = new(bool)
		c.GetFlag(name).IsSetByUser(f.paced[name])
	}
	c.GetFlag("answer-tokens").IsSetByUser(&f.answerTokens)
}

// kinds lists the kinds of incidents for the help.
func kinds() string {
	var all []string
	for _, k := range simulate.IncidentKinds() {
		all = append(all, string(k))
	}
	return strings.Join(all, ", ")
}

// apply makes the options those of a preset, if one was chosen, and adds the
// incidents.
func (f *presetFlags) apply(o *simulate.Options) error {
	for _, text := range f.incidents {
		i, err := simulate.ParseIncident(text)
		if err != nil {
			return usagef("--incident: %w", err)
		}
		o.Incidents = append(o.Incidents, i)
	}
	switch {
	case f.name != "":
		if err := f.cluster(o); err != nil {
			return err
		}
	case f.load != 0:
		return usagef("--preset.load=%d: only a preset has a load: add --preset", f.load)
	case f.speed != 1:
		return usagef("--preset.speed=%v: only a preset has a speed: add --preset", f.speed)
	}
	if err := o.Validate(); err != nil {
		return usagef("the deployment cannot be simulated: %w", err)
	}
	return nil
}

// cluster fills in a preset's cluster.
func (f *presetFlags) cluster(o *simulate.Options) error {
	for _, name := range pacedFlags() {
		if *f.paced[name] {
			return usagef("--%s goes with fixed delays, and --preset=%s works out its own: leave one of them out", name, f.name)
		}
	}
	if !(f.speed > 0) {
		return usagef("--preset.speed=%v: give a factor above 0", f.speed)
	}
	config, err := cluster.Preset(f.name)
	if err != nil {
		return usagef("--preset: %w", err)
	}
	o.Cluster, o.Speed = &config, f.speed
	o.Load = simulate.Load{Concurrency: f.load, WarmUp: 2 * time.Minute}
	if !f.answerTokens {
		o.Answer = presetAnswer(f.name)
	}
	return nil
}
