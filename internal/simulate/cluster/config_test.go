package cluster

import (
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"workers: 0 is too small: give at least 1":                               func(c *Config) { c.Workers = 0 },
		"engine: max seqs: -1 is too small":                                      func(c *Config) { c.Engine.MaxSeqs = -1 },
		"engine: max batched tokens: 0 is too small: give at least 1":            func(c *Config) { c.Engine.MaxBatchedTokens = 0 },
		"engine: max batched tokens: 3 is too small: give at least 4":            func(c *Config) { c.Engine.MaxBatchedTokens, c.Engine.Speculation.Draft = 3, 3 },
		"engine: block tokens: 0 is too small":                                   func(c *Config) { c.Engine.BlockTokens = 0 },
		"engine: KV tokens beside the drafter: 20 is too small":                  func(c *Config) { c.Engine.KVTokens = 20 },
		"engine: lookahead: -1":                                                  func(c *Config) { c.Engine.Lookahead = -1 },
		"engine: speculation: acceptance is 1.5: give a probability":             func(c *Config) { c.Engine.Speculation.Acceptance = 1.5 },
		"engine: graphs: 4 comes after 8: give ascending sizes":                  func(c *Config) { c.Engine.Graphs = []int{8, 4} },
		"engine: cost: prefill is -1: give seconds":                              func(c *Config) { c.Engine.Cost.Prefill = -1 },
		"engine: cost: base is 0: time would stand still":                        func(c *Config) { c.Engine.Cost.Base = 0 },
		`router: policy is "sticky": give "round_robin", "random" or "kv_aware"`: func(c *Config) { c.Router.Policy = "sticky" },
		"router: temperature is -1":                                              func(c *Config) { c.Router.Temperature = -1 },
		"router: overlap weight is -2":                                           func(c *Config) { c.Router.OverlapWeight = -2 },
		"frontend: spread is 2: give a share from 0 to 1":                        func(c *Config) { c.Frontend.Spread = 2 },
		"frontend: deadline: -1s is too small: give at least 0s":                 func(c *Config) { c.Frontend.Deadline = -time.Second },
		`fault 1 (melt): kind "melt" is unknown`:                                 func(c *Config) { c.Faults = []Fault{{Kind: "melt"}} },
		"fault 1 (hang): at: -1ns is too small":                                  func(c *Config) { c.Faults = []Fault{{Kind: Hang, At: -1}} },
		"fault 2 (hang): worker 3 is not there: give 0 to 0":                     func(c *Config) { c.Faults = []Fault{{Kind: Hang}, {Kind: Hang, Workers: []int{3}}} },
		"fault 1 (slow_decode): factor is -1":                                    func(c *Config) { c.Faults = []Fault{{Kind: SlowDecode, Factor: -1}} },
	} {
		c := small()
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nlacks %q", err, want)
		}
	}
	if err := small().Validate(); err != nil {
		t.Error(err)
	}
}

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		c, err := Preset(name)
		if err != nil {
			t.Error(err)
		}
		if err := c.Validate(); err != nil {
			t.Errorf("preset %q: %v", name, err)
		}
	}
	if _, err := Preset("h100"); err == nil || !strings.Contains(err.Error(), `preset "h100" is unknown: give one of ["phase0" "eagle3" "trtllm-rr"`) {
		t.Errorf("error %v", err)
	}
}
