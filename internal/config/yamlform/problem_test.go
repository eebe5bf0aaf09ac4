package yamlform

import "testing"

func TestLooksSecret(t *testing.T) {
	for _, s := range []string{
		"sk-abc", "hf_abc", "Bearer abc", "//me:pw@host", "http://a?api_key=x",
		"0123456789abcdef0123456789abcdef",
	} {
		if !LooksSecret(s) {
			t.Errorf("%q does not look secret", s)
		}
	}
	for _, s := range []string{
		"", "http://vllm.inference.svc.cluster.local:8000/v1", "meta-llama/Llama-3.1-70B",
		"poisson", "/var/run/secrets/synthetic/key", "1h30m",
	} {
		if LooksSecret(s) {
			t.Errorf("%q looks secret", s)
		}
	}
}
