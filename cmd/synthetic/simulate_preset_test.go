package main

import (
	"strings"
	"testing"
)

func TestPresetIsServed(t *testing.T) {
	p := start(t, "simulate", "--preset=eagle3", "--engine=speed=10,load=20", "--engine=answer_tokens=20", "--web.listen-address=127.0.0.1:0",
		"--incident=http_500,at=1000h,share=1")
	p.base = "http://" + p.err.find(t, `msg="Listening on" address=(\S+)`)
	s := p.until("tokens of the load", func(s map[string]float64) bool {
		n, _ := sum(s, "vllm:generation_tokens_total")
		return n > 10_000
	})
	if n, _ := sum(s, "vllm:cache_config_info"); n != 1 {
		t.Errorf("%v configurations of a KV cache, want 1", n)
	}
	probed := start(t, "probe", "--base-url", p.base+"/v1", "--turns=2")
	<-probed.done
	if probed.code != exitOK {
		t.Errorf("a probe of the preset ended with %d:\n%s%s", probed.code, probed.out, probed.err)
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d; log:\n%s", code, p.err)
	}
}

func TestPresetFlagsAreChecked(t *testing.T) {
	for args, want := range map[string]string{
		"--preset=nothing":                                 "phase0",
		"--preset=phase0 --engine=first_token=1s":          "--engine=first_token=1s: --preset=phase0 computes its own delays; leave one of them out",
		"--preset=phase0 --engine=speed=0":                 "--engine=speed=0: want a number from 1e-06 to 1e+06",
		"--preset=phase0 --engine=speed=NaN":               "--engine=speed=NaN: want a number from 1e-06 to 1e+06",
		"--preset=phase0 --engine=load=-1":                 "--engine=load=-1: want at least 0",
		"--engine=load=3":                                  "--engine=load=3: it needs --preset",
		"--engine=speed=3":                                 "--engine=speed=3: it needs --preset",
		"--engine=reasoning=2":                             "--engine=reasoning=2: want a number from 0 to 1",
		"--incident=nonsense":                              `there is no kind "nonsense"; give one of [bad_arguments`,
		"--incident=slow_prefill,factor=4":                 "incident 1 (slow_prefill): it needs a cluster: set one",
		"--preset=phase0 --incident=worker_loss,workers=1": "there is no worker 1",
	} {
		out, errs := newBuffer(), newBuffer()
		code := run(t.Context(), append([]string{"simulate", "--web.listen-address=127.0.0.1:0"}, strings.Fields(args)...), out, errs)
		if code != exitUsage || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, %q; want %d and %q", args, code, errs, exitUsage, want)
		}
	}
}
