package main

import (
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
